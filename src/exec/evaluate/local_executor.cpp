#include "exec/evaluate/local_executor.h"

#include <utility>

#include "exec/evaluate/finals_runner.h"

namespace tune::exec {

LocalExecutor::LocalExecutor(const RequestFactory& requests, WorkerRules rules) : service_(requests, std::move(rules)) {
  service_.claim_clocks();
}

WorkerRunner& LocalExecutor::worker_runner() {
  if (!runner_) runner_ = std::make_unique<WorkerRunner>(service_);
  return *runner_;
}

std::unique_ptr<FinalsRun> LocalExecutor::finals(std::vector<wire::Contender> contenders, FinalsRules rules) {
  return std::make_unique<FinalsRunner>(service_, std::move(contenders), std::move(rules));
}

Artifact LocalExecutor::artifact(const Spec& spec) {
  const Builder::Result* result = service_.builds().find_or_build(spec);
  if (result == nullptr) {
    service_.finish_builds();
    result = service_.builds().find_or_build(spec);
  }
  const auto* artifact = result != nullptr ? std::get_if<Artifact>(result) : nullptr;
  if (artifact != nullptr) return *artifact;
  const auto* failure = result != nullptr ? std::get_if<Failure>(result) : nullptr;
  throw Error(ExitCode::environment,
              "the build store has the best spec's artifact no longer, and it cannot be built again: " +
                  (failure != nullptr ? failure->headline() : "the artifact changes while it is read"));
}

std::optional<Usage> LocalExecutor::usage() { return runner_ ? std::optional(runner_->usage()) : std::nullopt; }

}  // namespace tune::exec

#pragma once
#include <memory>
#include <optional>

#include "exec/evaluate/executor.h"
#include "exec/evaluate/worker_runner.h"

namespace tune::exec {

/// The devices of this machine, in this process: what a run without agents uses, and what an agent is.
class LocalExecutor : public Executor {
 public:
  /// `requests` must outlive this. Throws what MeasureService::claim_clocks throws.
  LocalExecutor(const RequestFactory& requests, WorkerRules rules);

  Runner& runner() override { return worker_runner(); }
  std::string distrust() const override { return runner_ ? runner_->distrust() : ""; }
  void stop_sharing() override { worker_runner().stop_sharing(); }
  std::unique_ptr<FinalsRun> finals(std::vector<wire::Contender> contenders, FinalsRules rules) override;
  Artifact artifact(const Spec& spec) override;
  std::optional<Usage> usage() override;

  /// WorkerRunner::look_after_processes.
  void look_after_processes() { worker_runner().look_after_processes(); }
  MeasureService& service() { return service_; }

 private:
  WorkerRunner& worker_runner();

  MeasureService service_;
  std::unique_ptr<WorkerRunner> runner_;
};

}  // namespace tune::exec

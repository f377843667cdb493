#include "commands/database/package_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "commands/installation.h"
#include "exec/request/spec_launches.h"
#include "model/settings.h"

namespace tune::commands {
namespace {

wire::Hello hello_for(const TunedPlan& plan, Backend backend, exec::Workers& workers) {
  wire::Hello hello = workers.probe_compiler(backend);
  hello.device = plan.device();
  hello.device.arch = plan.group().device.arch;
  return hello;
}

void add_reference(PackageCandidate& candidate, const exec::Builder::Result& result) {
  if (const auto* failure = std::get_if<Failure>(&result)) {
    if (candidate.refusal.empty()) candidate.refusal = "its reference does not build: " + failure->message;
    return;
  }
  candidate.reference_built = std::get<exec::Artifact>(result).path;
  candidate.reference_artifact = std::get<exec::Artifact>(result).info.artifact_hash;
}

}  // namespace

bool is_custom(const PackageCandidate& candidate) {
  return std::holds_alternative<Custom>(candidate.loaded->plan.problem);
}

PackageCandidates::PackageCandidates(const database::Database& database, const database::ResultGroup& group, bool rule,
                                     const TunedPlan& plan, exec::Workers& workers)
    : group_(&group), plan_(&plan), workers_(&workers) {
  const wire::Hello hello = hello_for(plan, backend_of(group), workers);
  for (auto each = database.results.lower_bound({group, {}});
       each != database.results.end() && each->first.group == group; ++each)
    add({each->first.sizes, each->second.params, each->second.artifact_hash, each->second.code, &each->second}, hello);
  const auto found = database.rules.find(group);
  if (rule && found != database.rules.end()) add_choices(found->second, hello);
}

void PackageCandidates::add_choices(const database::SizeRule& rule, const wire::Hello& hello) {
  for (const database::SizeRule::Node& node : rule.tree) {
    if (!node.size.empty() || find(rule.configurations[node.use].params) != nullptr) continue;
    const auto& configuration = rule.configurations[node.use];
    const std::string params = to_text(configuration.params);
    for (const auto& [sizes, use] : rule.table)
      if (const auto& listed = rule.configurations[use]; to_text(listed.params) == params) {
        add({sizes, configuration.params, listed.artifact_hash, {}, nullptr}, hello);
        break;
      }
  }
}

const PackageCandidate* PackageCandidates::find(const std::vector<Setting>& params) const {
  const std::string text = to_text(params);
  const auto found = std::ranges::find_if(
      candidates_, [&](const PackageCandidate& each) { return each.refusal.empty() && to_text(each.params) == text; });
  return found == candidates_.end() ? nullptr : &*found;
}

void PackageCandidates::add(PackageCandidate candidate, const wire::Hello& hello) {
  if (candidate.artifact.empty()) candidate.refusal = "there is no hash of the binary that was timed";
  candidate.loaded = std::make_unique<config::Loaded>(plan_->at(candidate.sizes));
  try {
    auto spec = candidate.loaded->plan.space.at(candidate.params);
    if (const auto* rejection = std::get_if<Rejection>(&spec))
      candidate.refusal = "the tuning file excludes it: " + rejection->reason;
    else
      candidate.spec = std::get<Spec>(std::move(spec));
  } catch (const std::invalid_argument& error) {
    candidate.refusal = error.what();
  }
  candidate.requests = std::make_unique<exec::RequestFactory>(candidate.loaded->plan, hello, 0);
  candidates_.push_back(std::move(candidate));
}

void PackageCandidates::build(const StoreOptions& store) {
  exec::MeasureOptions rules;
  rules.worker = workers_->require(backend_of(*group_));
  rules.store = store_places(store);
  rules.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  service_ = std::make_unique<exec::MeasureService>(*candidates_.front().requests, rules);
  exec::Builder& builder = service_->builds().builder();
  for (PackageCandidate& each : candidates_)
    if (each.refusal.empty()) try {
        const std::string key = each.requests->build_key(each.spec);
        if (builder.find(key) == nullptr) builder.want(key, each.requests->build(each.spec));
        if (!is_custom(each)) continue;
        const std::string reference = each.requests->reference_build_key(each.spec);
        if (builder.find(reference) == nullptr) builder.want(reference, each.requests->reference_build(each.spec));
      } catch (const exec::Unlaunchable& error) {
        each.refusal = error.what();
      }
  service_->finish_builds();
  for (PackageCandidate& each : candidates_)
    if (each.refusal.empty()) {
      compare(each, *builder.find(each.requests->build_key(each.spec)));
      if (is_custom(each)) add_reference(each, *builder.find(each.requests->reference_build_key(each.spec)));
    }
}

void PackageCandidates::compare(PackageCandidate& candidate, const exec::Builder::Result& result) const {
  if (const auto* failure = std::get_if<Failure>(&result)) {
    candidate.refusal = "it does not build: " + failure->message;
    return;
  }
  const auto& artifact = std::get<exec::Artifact>(result);
  candidate.built = artifact.path;
  if (!candidate.artifact.empty() && artifact.info.artifact_hash != candidate.artifact) {
    candidate.changed = true;
    const std::string &then = group_->device.compiler, &here = candidate.requests->hello().compiler;
    if (!group_->source.empty() && candidate.requests->source_hash() != group_->source)
      candidate.refusal = "the source is not what it was when it was timed";
    else
      candidate.refusal = "what is built now has other bytes than what was timed; " +
                          (then == here ? "the tuning file or its values were changed"
                                        : fmt::format("it was built by {}, and here is {}", then, here));
    return;
  }
  if (!candidate.code.empty() &&
      candidate.requests->code_of(candidate.spec, artifact.info.artifact_hash) != candidate.code) {
    candidate.changed = true;
    candidate.refusal = "the tuning file launches it in another way than when it was timed";
  }
  candidate.artifact = artifact.info.artifact_hash;
}

}  // namespace tune::commands

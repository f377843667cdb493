#include "contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "base/store.h"
#include "exec/memory.h"
#include "model/error.h"

namespace tune {
namespace {

constexpr const char* kExclusive =
    "there were no finals, which need several processes at a time: the device is in exclusive-process mode "
    "(nvidia-smi -c DEFAULT ends that)";
constexpr const char* kMemoryForOne =
    "there were no finals, which need several processes at a time: the device has memory for one";
constexpr fmt::string_view kCut = "the finals have {} of {} contenders: the device has memory for no more";

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

/// Of the specs; baselines do not compete.
bool any_finished(const Finals& finals) {
  return std::ranges::any_of(finals.finalists, [](const Finalist& f) { return f.label.empty() && !f.failure; });
}

/// How notes call a baseline: `baseline 2`, which is a label already, or `baseline old.yaml`.
std::string named(const std::string& label) { return label.starts_with("baseline") ? label : "baseline " + label; }

bool is_vendor(const std::string& label) { return label == "vendor" || label == "vendor best"; }

// To crown a spec that was too slow for the finals would hide that something is wrong.
[[noreturn]] void throw_none_finished(const Finals& finals) {
  const auto spec = std::ranges::find_if(finals.finalists, [](const Finalist& f) { return f.label.empty(); });
  throw Error(ExitCode::environment,
              "all specs failed in the finals, though the sweep could time them: " + spec->failure->headline() +
                  "; the results so far are in the journal, and the same command holds the finals again");
}

}  // namespace

Contest::Contest(Parts parts, ContestRules rules, Findings& findings)
    : parts_(std::move(parts)), rules_(rules), findings_(&findings) {}

void Contest::hold(Tuner& tuner) {
  decide(tuner);
  take_failures(tuner);
  note_default(tuner);
  add_notes();
}

// The baselines are tried as specs are, then all contenders meet.
void Contest::decide(Tuner& tuner) {
  std::vector<Contender> contenders = choose_contenders(tuner);
  if (contenders.empty()) return;
  std::vector<Contender> baselines = try_baselines(tuner);
  cut_to_memory(contenders, baselines);
  std::ranges::move(baselines, std::back_inserter(contenders));
  if (contenders.size() > 1) hold_finals(std::move(contenders));
}

void Contest::take_failures(Tuner& tuner) {
  if (!findings_->finals) return;
  for (const Finalist& finalist : findings_->finals->finalists) {
    if (!finalist.failure || !finalist.label.empty()) continue;
    for (Trial& trial : tuner.trials())
      if (trial.spec.mesh_idx == finalist.spec.mesh_idx) {
        trial.outcome = *finalist.failure;
        trial.recorded = trial.recorded && restored_;
      }
  }
}

// Today's configuration is missed where it is not in the table.
void Contest::note_default(Tuner& tuner) {
  if (!findings_->default_spec) return;
  const auto trial = std::ranges::find(tuner.trials(), findings_->default_spec->mesh_idx,
                                       [](const Trial& t) { return t.spec.mesh_idx; });
  if (trial == tuner.trials().end()) return;
  if (const Failure* failure = trial->failure())
    findings_->notes.push_back("default failed: " + failure->headline());
  else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial->outcome))
    findings_->notes.push_back("default is pruned: " + pruned->reason);
}

// A remark that holds for several is said once, and so is why both rows of the vendor's library failed.
void Contest::add_notes() {
  if (!findings_->finals) return;
  std::set<std::string> said;
  for (const Finalist& finalist : findings_->finals->finalists) {
    const bool is_spec = finalist.label.empty();
    const auto add = [&](const std::string& text) {
      findings_->notes.push_back(is_spec ? text : named(finalist.label) + ": " + text);
    };
    for (const std::string& remark : finalist.remarks)
      if (said.insert(remark).second) add(remark);
    if (!finalist.failure || is_spec) continue;
    const std::string& why = finalist.failure->message;
    if (!is_vendor(finalist.label) || said.insert(why).second) add(why);
  }
}

std::vector<Contender> Contest::choose_contenders(const Tuner& tuner) const {
  std::vector<Merit> merits;
  for (const Trial& trial : tuner.trials())
    merits.push_back(trial.measurement() ? parts_.objective.merit(trial.spec, *trial.measurement()) : Merit{});
  std::vector<Contender> contenders;
  for (const Trial* trial : choose_finalists(tuner.trials(), merits, rules_.finalists, kFinalsMargin,
                                             std::max(kMostFinalists, rules_.finalists)))
    contenders.push_back({"", trial->spec});
  if (contenders.empty() || !findings_->default_spec) return contenders;
  const auto is_default = [&](const Spec& spec) { return spec.mesh_idx == findings_->default_spec->mesh_idx; };
  if (is_default(contenders.front().spec)) return contenders;
  // Behind the best: what the memory does not hold is cut from the end.
  std::erase_if(contenders, [&](const Contender& contender) { return is_default(contender.spec); });
  for (const Trial& trial : tuner.trials())
    if (is_default(trial.spec) && trial.measurement()) contenders.insert(contenders.begin() + 1, {"", trial.spec});
  return contenders;
}

std::vector<Contender> Contest::try_baselines(Tuner& tuner) {
  std::vector<Contender> baselines;
  for (const Baseline& baseline : parts_.plan.baselines) {
    if (baseline.kind == Baseline::Kind::vendor) {
      baselines.push_back({baseline.label, {}, Contender::Vendor::first});
      if (parts_.plan.backend != Backend::cpu)
        baselines.push_back({baseline.label + " best", {}, Contender::Vendor::fastest});
      continue;
    }
    const auto point = parts_.plan.space.at(std::span(baseline.settings));
    if (const auto* rejection = std::get_if<Rejection>(&point)) {
      findings_->notes.push_back(named(baseline.label) + " is pruned: " + rejection->reason);
      continue;
    }
    const Trial trial = tuner.try_one(std::get<Spec>(point));
    if (trial.measurement())
      baselines.push_back({baseline.label, trial.spec});
    else if (const Failure* failure = trial.failure())
      findings_->notes.push_back(named(baseline.label) + " failed: " + failure->message);
    else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome))
      findings_->notes.push_back(named(baseline.label) + " is pruned: " + pruned->reason);
  }
  return baselines;
}

// All of them have their memory at the same time. First comes the best spec, then come the baselines.
void Contest::cut_to_memory(std::vector<Contender>& specs, std::vector<Contender>& baselines) {
  std::vector<std::int64_t> workspaces;
  const auto add = [&](const Contender& contender) {
    workspaces.push_back(contender.is_vendor() ? 0 : parts_.requests.measure(contender.spec).workspace_bytes);
  };
  add(specs.front());
  std::ranges::for_each(baselines, add);
  std::ranges::for_each(specs.begin() + 1, specs.end(), add);
  const wire::Hello& hello = parts_.requests.hello();
  auto fitting = processes_that_fit(hello.backend, parts_.plan.problem, hello.device, workspaces);
  if (rules_.one_process) fitting = 1;
  const std::size_t all = specs.size() + baselines.size();
  if (!fitting || all <= static_cast<std::size_t>(*fitting)) return;
  const auto most = static_cast<std::size_t>(*fitting);
  specs.resize(std::min(specs.size(), most - std::min(baselines.size(), most - 1)));
  baselines.resize(std::min(baselines.size(), most - specs.size()));
  findings_->notes.push_back(rules_.one_process ? kExclusive
                             : most == 1        ? kMemoryForOne
                                                : fmt::format(kCut, most, all));
}

// Who takes part and how: the same finals need not be held twice.
std::string Contest::finals_id(const std::vector<Contender>& contenders) const {
  const Requests& requests = parts_.requests;
  std::vector<std::string> ids;
  for (const Contender& contender : contenders)
    ids.push_back(contender.label + (contender.is_vendor() ? requests.vendor_id() : requests.trial_id(contender.spec)));
  std::sort(ids.begin(), ids.end());
  Hash hash;
  if (parts_.plan.measure.energy != MeasureRules::Energy::never) hash.add("energy");
  for (const std::string& id : ids) hash.add(id);
  return hash.hex();
}

bool Contest::same_contender(const Contender& contender, const Finalist& finalist) const {
  if (contender.label != finalist.label) return false;
  return contender.is_vendor() || parts_.requests.trial_id(contender.spec) == parts_.requests.trial_id(finalist.spec);
}

const Finals* Contest::recorded(const std::string& id) const {
  const Finals* recorded = parts_.journal.find_finals(id);
  const auto again = [&](const Finalist& finalist) {
    return finalist.failure && rules_.again(*finalist.failure, parts_.journal.repeats(id));
  };
  if (recorded == nullptr || !any_finished(*recorded)) return nullptr;
  return std::ranges::any_of(recorded->finalists, again) ? nullptr : recorded;
}

// The grid may have changed since; what took part has not. False: a contender is not known.
bool Contest::restore(const Finals& before, const std::vector<Contender>& contenders) {
  Finals finals = before;
  for (Finalist& finalist : finals.finalists) {
    const auto same = [&](const Contender& contender) { return same_contender(contender, finalist); };
    const auto found = std::ranges::find_if(contenders, same);
    if (found == contenders.end()) return false;
    finalist.spec = found->spec;
  }
  findings_->finals = std::move(finals);
  restored_ = true;
  return true;
}

void Contest::hold_finals(std::vector<Contender> contenders) {
  const std::string id = finals_id(contenders);
  const Finals* before = recorded(id);
  if (before != nullptr && restore(*before, contenders)) return;
  FinalsRules rules;
  rules.seed = rules_.seed;
  const auto begin = now();
  const std::size_t count = contenders.size();
  parts_.progress.say(fmt::format("finals: {} contenders", count), begin);
  FinalsRunner finals(parts_.workshop(), std::move(contenders), rules);
  Finals held = finals.run([&](int round) {
    parts_.progress.set_stage(
        round == 0 ? fmt::format("finals: loading {} contenders", count)
                   : fmt::format("finals: round {} of at most {}, {} contenders", round, rules.max_rounds, count),
        now());
    parts_.journal.flush(false);
  });
  findings_->finals_seconds = std::chrono::duration<double>(now() - begin).count();
  if (!any_finished(held)) throw_none_finished(held);
  findings_->finals = std::move(held);
  parts_.journal.append(wire::FinalsRecord{id, *findings_->finals});
}

}  // namespace tune

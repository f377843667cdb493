#include "contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "base/store.h"
#include "exec/memory.h"
#include "model/error.h"
#include "recall.h"

namespace tune {
namespace {

constexpr double kFinalsSeconds = 30;
constexpr const char* kExclusive =
    "there were no finals, which need several processes at a time: the device is in exclusive-process mode "
    "(nvidia-smi -c DEFAULT ends that)";
constexpr const char* kMemoryForOne =
    "there were no finals, which need several processes at a time: the device has memory for one";
constexpr fmt::string_view kCut = "the finals have {} of {} contenders: the device has memory for no more";
constexpr fmt::string_view kCutByTime = "the finals have {} of {} contenders: the time left is enough for no more";
constexpr fmt::string_view kNoTime =
    "there were no finals: the {:.1f} s left are too few for a round of two contenders; a longer --time-budget or "
    "--finals-budget makes room for them";
constexpr const char* kNoBaselines = "no baseline was timed, because --no-finals leaves the finals out";

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

/// Of the specs; baselines do not compete.
bool any_finished(const Finals& finals) {
  return std::ranges::any_of(finals.finalists, [](const Finalist& f) { return f.label.empty() && !f.failure; });
}

/// Keeps so many; the first spec and the baselines come first.
void cut(std::vector<Contender>& specs, std::vector<Contender>& baselines, std::size_t most) {
  specs.resize(std::min(specs.size(), most - std::min(baselines.size(), most - 1)));
  baselines.resize(std::min(baselines.size(), most - specs.size()));
}

std::chrono::steady_clock::duration ticks(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(seconds, 1e9)));
}

/// How notes call a baseline: `baseline 2`, which is a label already, or `baseline old.yaml`.
std::string named(const std::string& label) { return label.starts_with("baseline") ? label : "baseline " + label; }

bool is_vendor(const std::string& label) { return label == "vendor" || label == "vendor best"; }

/// The first algorithm is one of those that the library offers: it is the best of them where another, chosen in a short
/// race, turns out to be no faster.
void settle_vendor(Finals& finals) {
  const auto find = [&](const char* label) {
    const auto found = std::ranges::find(finals.finalists, label, &Finalist::label);
    return found == finals.finalists.end() || !finished(*found) ? nullptr : &*found;
  };
  const Finalist* const first = find("vendor");
  Finalist* const best = find("vendor best");
  if (first == nullptr || best == nullptr || median_seconds(*best) <= median_seconds(*first)) return;
  best->rounds = first->rounds;
  best->other_state_seconds = first->other_state_seconds;
  best->metrics = first->metrics;
  best->launches = first->launches;
}

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
  note_default(tuner);
  add_notes();
}

// The baselines are tried as specs are, then all contenders meet.
void Contest::decide(Tuner& tuner) {
  std::vector<Contender> contenders = choose_contenders(tuner);
  if (contenders.empty()) return;
  if (!rules_.hold) {
    if (!parts_.plan.baselines.empty()) findings_->notes.push_back(kNoBaselines);
    return;
  }
  std::vector<Contender> baselines = try_baselines(tuner);
  cut_to_memory(contenders, baselines);
  if (contenders.size() + baselines.size() < 2) return;
  std::vector<Contender> all = contenders;
  std::ranges::copy(baselines, std::back_inserter(all));
  const std::string id = finals_id(all);
  if (restore(id, all)) return;
  const FinalsRules rules = finals_rules(tuner);
  if (rules.end_is_asked_for) {
    cut_to_time(tuner, rules.end, contenders, baselines);
    if (contenders.size() + baselines.size() < 2) return;
    std::ranges::move(baselines, std::back_inserter(contenders));
    all = std::move(contenders);
  }
  hold_finals(id, std::move(all), rules);
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
    if (!finalist.failure) continue;
    if (is_spec) {
      add(fmt::format("spec {} failed in the finals and keeps its time of the sweep: {}", finalist.spec.mesh_idx,
                      finalist.failure->headline()));
      continue;
    }
    const std::string& why = finalist.failure->message;
    if (!is_vendor(finalist.label) || said.insert(why).second) add(why);
  }
}

std::vector<Contender> Contest::choose_contenders(const Tuner& tuner) const {
  std::vector<Merit> merits;
  for (const Trial& trial : tuner.trials())
    merits.push_back(trial.measurement() ? parts_.objective.merit(trial.spec, *trial.measurement()) : Merit{});
  const auto& today = findings_->default_spec;
  const SameCode same = same_code(tuner.trials(), today ? std::optional(today->mesh_idx) : std::nullopt);
  std::vector<Contender> contenders;
  for (const Trial* trial : choose_finalists(tuner.trials(), merits, rules_.finalists, kFinalsMargin,
                                             std::max(kMostFinalists, rules_.finalists), same))
    contenders.push_back({"", trial->spec});
  if (contenders.empty() || !today) return contenders;
  const auto is_default = [&](const Spec& spec) { return spec.mesh_idx == today->mesh_idx; };
  // Right behind the best: what memory or time do not hold is cut from the end.
  const bool leads = is_default(contenders.front().spec);
  std::erase_if(contenders, [&](const Contender& contender) { return is_default(contender.spec); });
  for (const Trial& trial : tuner.trials())
    if (is_default(trial.spec) && trial.measurement())
      contenders.insert(contenders.begin() + (leads ? 0 : 1), {"", trial.spec, Contender::Vendor::no, true});
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
  cut(specs, baselines, most);
  findings_->notes.push_back(rules_.one_process ? kExclusive
                             : most == 1        ? kMemoryForOne
                                                : fmt::format(kCut, most, all));
}

FinalsRules Contest::finals_rules(const Tuner& tuner) const {
  const auto begin = now();
  double seconds = kFinalsSeconds;
  if (parts_.plan.backend == Backend::program) {
    double sweep = 0;
    for (const Trial& trial : tuner.trials()) sweep += trial.measure_seconds;
    seconds = std::max(seconds, sweep);
  }
  FinalsRules rules;
  rules.seed = rules_.seed;
  rules.by_time = parts_.objective.by_time();
  if (rules_.noise) rules.width = *rules_.noise;
  rules.end = begin + ticks(rules_.budget.value_or(seconds));
  rules.end_is_asked_for = rules_.budget.has_value();
  if (rules_.deadline && *rules_.deadline < rules.end) {
    rules.end = *rules_.deadline;
    rules.end_is_asked_for = true;
  }
  if (parts_.plan.backend == Backend::cuda || parts_.plan.backend == Backend::hip)
    rules.other_state = parts_.plan.measure.state == PowerState::burst ? PowerState::sustained : PowerState::burst;
  return rules;
}

// A round costs no more than the sweep did; of a baseline, as much as of the best.
void Contest::cut_to_time(const Tuner& tuner, report::Progress::Time end, std::vector<Contender>& specs,
                          std::vector<Contender>& baselines) {
  const double left = std::chrono::duration<double>(end - now()).count();
  const auto cost = [&](const Contender& contender) {
    const auto trial =
        std::ranges::find(tuner.trials(), contender.spec.mesh_idx, [](const Trial& t) { return t.spec.mesh_idx; });
    return std::max(trial->measure_seconds, trial->measurement()->timing.median);
  };
  double seconds = cost(specs.front());
  std::size_t most = seconds <= left ? 1 : 0;
  for (std::size_t i = 1; i < specs.size() + baselines.size(); ++i) {
    const bool is_baseline = i <= baselines.size();
    seconds += is_baseline ? cost(specs.front()) : cost(specs[i - baselines.size()]);
    if (seconds <= left) most = i + 1;
  }
  const std::size_t all = specs.size() + baselines.size();
  if (most == all) return;
  findings_->notes.push_back(most < 2 ? fmt::format(kNoTime, std::max(left, 0.0)) : fmt::format(kCutByTime, most, all));
  cut(specs, baselines, std::max<std::size_t>(most, 1));
}

std::string Contest::contender_id(const Contender& contender) const {
  const Requests& requests = parts_.requests;
  return contender.label + (contender.is_vendor() ? requests.vendor_id() : requests.trial_id(contender.spec));
}

// Who takes part and how: the same finals need not be held twice.
std::string Contest::finals_id(const std::vector<Contender>& contenders) const {
  std::vector<std::string> ids;
  for (const Contender& contender : contenders) ids.push_back(contender_id(contender));
  std::sort(ids.begin(), ids.end());
  Hash hash;
  if (parts_.plan.measure.energy != MeasureRules::Energy::never) hash.add("energy");
  for (const std::string& id : ids) hash.add(id);
  for (const auto& limit : {rules_.budget, rules_.time_budget, rules_.noise})
    hash.add(limit ? fmt::format("{}", *limit) : "-");
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

// The grid may have changed since; what took part has not. False: there are none, or a contender is not known.
bool Contest::restore(const std::string& id, const std::vector<Contender>& contenders) {
  const Finals* before = recorded(id);
  if (before == nullptr) return false;
  Finals finals = *before;
  for (Finalist& finalist : finals.finalists) {
    const auto same = [&](const Contender& contender) { return same_contender(contender, finalist); };
    const auto found = std::ranges::find_if(contenders, same);
    if (found == contenders.end()) return false;
    finalist.spec = found->spec;
    finalist.is_default = found->is_default;
  }
  findings_->finals = std::move(finals);
  return true;
}

// One record tells that finals run, and one more after each wait for other runs. Only from the second run that ended in
// them on each turn has one too, which tell whose doing it is: there are thousands.
void Contest::blame_for_ends(const std::string& id, std::vector<Contender>& contenders, FinalsRules& rules) {
  const bool suspicious = parts_.journal.ends_of(id) > 0;
  const auto turn_of = [this, id](const Contender& contender) { return id + "/" + contender_id(contender); };
  const auto noted = std::make_shared<bool>(false);
  rules.note_waiting = [this, noted] {
    *noted = false;
    parts_.journal.note_end();
  };
  rules.note_turn = [this, noted, suspicious, id, turn_of](const Contender& contender) {
    const bool was_noted = std::exchange(*noted, true);
    if (suspicious || !was_noted) parts_.journal.append(wire::StartedRecord{suspicious ? turn_of(contender) : id});
  };
  if (!suspicious) return;
  for (Contender& contender : contenders) {
    const Failure failure = run_ended_while_it_ran();
    if (parts_.journal.ends_of(turn_of(contender)) >= kMostEnds && !rules_.again(failure, true))
      contender.failure = failure;
  }
}

void Contest::hold_finals(const std::string& id, std::vector<Contender> contenders, FinalsRules rules) {
  const auto begin = now();
  blame_for_ends(id, contenders, rules);
  const std::size_t count = contenders.size();
  parts_.progress.say(fmt::format("finals: {} contenders", count), begin);
  FinalsRunner finals(parts_.measure_service(), std::move(contenders), rules);
  Finals held = finals.run([&](int round, std::size_t left) {
    parts_.progress.set_stage(round == 0 ? fmt::format("finals: loading {} contenders", count)
                                         : fmt::format("finals: round {}, {} contenders left", round, left),
                              now());
    parts_.journal.flush(false);
  });
  findings_->finals_seconds = std::chrono::duration<double>(now() - begin).count();
  if (!any_finished(held)) throw_none_finished(held);
  settle_vendor(held);
  findings_->finals = std::move(held);
  parts_.journal.append(wire::FinalsRecord{id, *findings_->finals});
}

}  // namespace tune

#include "tuning/contenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "exec/request/memory.h"
#include "model/statistics/tournament.h"

namespace tune::tuning {
namespace {

constexpr double kWideMargin = 0.15;
// In bursts, the finals' times of kernels of 1.34 ms were within 1.2 % of the sweep's, and of 0.176 ms within 3.2 %
// (H200).
constexpr double kNarrowMargin = 0.05;
constexpr double kLongKernel = 1e-3;          // seconds
constexpr double kOverlookedOnGpu = 2.0 / 3;  // no power state changes times by so much

/// So many; the first spec and the baselines come first.
void cut(Contenders& contenders, std::size_t most) {
  auto& [specs, baselines] = contenders;
  specs.resize(std::min(specs.size(), most - std::min(baselines.size(), most - 1)));
  baselines.resize(std::min(baselines.size(), most - specs.size()));
}

/// How long a turn in the finals takes: its part of what the sweep took for more launches, and at least so long. That
/// of a command is one run.
double turn_seconds(const Trial& trial, int launches, double least) {
  const Timing& timing = trial.measurement()->timing;
  if (is_of_whole_command(*trial.measurement())) return std::max(timing.median, least);
  const double part = std::min(1.0, launches / static_cast<double>(std::max<std::int64_t>(timing.count, 1)));
  return std::max({trial.measure_seconds * part, timing.median, least});
}

/// The same for contender number `i`, where the baselines follow the first spec: that of a baseline is as long.
double turn_seconds(const Contenders& contenders, std::size_t i, std::span<const Trial> trials,
                    const exec::FinalsRules& rules) {
  const std::size_t baselines = contenders.baselines.size();
  const Spec& spec = contenders.specs[i <= baselines ? 0 : i - baselines].entrant.spec;
  return turn_seconds(*find_trial(trials, spec.mesh_idx), rules.launches, rules.least_turn);
}

/// By the objective, how good each measured trial may be: by the low end of its time's interval, because what disturbs
/// a launch can only make it longer.
std::vector<Merit> possible_merits(std::span<const Trial> trials, const Objective& objective) {
  std::vector<Merit> merits;
  for (const Trial& trial : trials) {
    Merit& merit = merits.emplace_back();
    if (!trial.measurement()) continue;
    Measurement least = *trial.measurement();
    const bool by_median = least.timing.typical() == least.timing.median;
    if (const double low = least.timing.ci_low; low > 0 && by_median && objective.by_time()) least.timing.chosen = low;
    merit = objective.merit(trial.spec, least);
  }
  return merits;
}

}  // namespace

std::vector<wire::Contender> Contenders::all() const {
  std::vector<wire::Contender> both = specs;
  both.insert(both.end(), baselines.begin(), baselines.end());
  return both;
}

bool are_steady(const Plan& plan, const Objective& objective, std::span<const Trial> trials) {
  const auto is_short = [](const Trial& trial) {
    return trial.measurement() && trial.measurement()->timing.median < kLongKernel;
  };
  return is_gpu(plan.backend()) && plan.measure.state == PowerState::burst && objective.by_time() &&
         std::ranges::none_of(trials, is_short);
}

double finals_margin(const Plan& plan, const Objective& objective, std::span<const Trial> trials) {
  return are_steady(plan, objective, trials) ? kNarrowMargin : kWideMargin;
}

std::vector<const Trial*> disturbed_specs(std::span<const Trial> trials, const Plan& plan, const Objective& objective,
                                          const std::optional<Spec>& today) {
  if (!objective.by_time()) return {};
  const std::vector<Merit> merits = possible_merits(trials, objective);
  const SameCode same = same_code(trials, today);
  const double margin = finals_margin(plan, objective, trials);
  const auto near = choose_finalists(trials, merits, 1, margin, static_cast<int>(trials.size()), same);
  if (near.empty()) return {};
  const Measurement& best = *choose_finalists(trials, merits, 1, 0, 1).front()->measurement();
  // On a GPU, all specs share the device with other processes alike.
  const double limit = is_gpu(plan.backend()) ? best.clean_seconds : best.timing.median;
  std::multimap<double, const Trial*> disturbed;
  for (const Trial& trial : trials) {
    const Measurement* measurement = trial.measurement();
    if (measurement == nullptr || same.contains(trial.spec.mesh_idx)) continue;
    if (std::ranges::find(near, &trial) != near.end()) continue;
    const double clean = measurement->clean_seconds;
    if (clean > 0 && clean <= (1 + margin) * limit && measurement->timing.median > kDisturbed * clean)
      disturbed.emplace(clean, &trial);
  }
  std::vector<const Trial*> specs;
  for (const auto& [clean, trial] : disturbed) specs.push_back(trial);
  return specs;
}

std::vector<wire::Contender> choose_specs(std::span<const Trial> trials, const Plan& plan, const Objective& objective,
                                          const std::optional<Spec>& today, int finalists) {
  const std::vector<Merit> merits = possible_merits(trials, objective);
  const SameCode same = same_code(trials, today);
  std::vector<wire::Contender> contenders;
  const double margin = finals_margin(plan, objective, trials);
  for (const Trial* trial :
       choose_finalists(trials, merits, finalists, margin, std::max(kMostFinalists, finalists), same))
    contenders.push_back({{trial->spec}});
  for (const Trial* trial : disturbed_specs(trials, plan, objective, today))
    if (std::ssize(contenders) < std::max(kMostWithDisturbed, finalists)) contenders.push_back({{trial->spec}});
  if (contenders.empty() || !today) return contenders;
  const auto is_default = [&](const Spec& spec) { return spec.mesh_idx == today->mesh_idx; };
  // Right behind the best: what memory or time do not hold is cut from the end.
  const bool leads = is_default(contenders.front().entrant.spec);
  std::erase_if(contenders, [&](const wire::Contender& contender) { return is_default(contender.entrant.spec); });
  for (const Trial& trial : trials)
    if (is_default(trial.spec) && trial.measurement())
      contenders.insert(contenders.begin() + (leads ? 0 : 1), {{trial.spec, Entrant::Kind::current_default}});
  return contenders;
}

std::vector<wire::Contender> try_baselines(Tuner& tuner, const Plan& plan, std::vector<wire::Contender> stored,
                                           results::Notices& notes) {
  std::vector<wire::Contender> baselines = std::move(stored);
  for (const Baseline& baseline : plan.baselines) {
    if (baseline.kind == Baseline::Kind::vendor) {
      baselines.push_back({{{}, Entrant::Kind::vendor_first, baseline.label}});
      if (is_gpu(plan.backend()))
        baselines.push_back({{{}, Entrant::Kind::vendor_fastest, name_of_fastest(baseline.label)}});
      continue;
    }
    const auto is_it = [&](const wire::Contender& contender) { return contender.entrant.name == baseline.label; };
    if (std::ranges::any_of(baselines, is_it)) continue;
    const auto point = plan.space.at(std::span(baseline.settings));
    if (const auto* rejection = std::get_if<Rejection>(&point)) {
      notes.add(results::name_of_baseline(baseline.label) + " is pruned: " + rejection->reason);
      continue;
    }
    const Trial trial = tuner.try_one(std::get<Spec>(point));
    if (trial.measurement())
      baselines.push_back({{trial.spec, Entrant::Kind::baseline, baseline.label}});
    else if (const Failure* failure = trial.failure())
      notes.add(results::name_of_baseline(baseline.label) + " failed: " + failure->message);
    else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome))
      notes.add(results::name_of_baseline(baseline.label) + " is pruned: " + pruned->reason);
  }
  return baselines;
}

const Trial* overlooked_spec(std::span<const Trial> trials, const Finals& finals, Backend backend,
                             const std::optional<Spec>& today) {
  double least = 0;
  std::set<std::int64_t> known;
  for (const Finalist& finalist : finals.finalists) {
    if (!finalist.entrant.is_spec()) continue;
    known.insert(finalist.entrant.spec.mesh_idx);
    if (finished(finalist) && (least == 0 || median_seconds(finalist) < least)) least = median_seconds(finalist);
  }
  const SameCode same = same_code(trials, today);
  const Trial* fastest = nullptr;
  if (is_gpu(backend)) least *= kOverlookedOnGpu;
  for (const Trial& trial : trials) {
    const auto represented = same.find(trial.spec.mesh_idx);
    if (!trial.measurement() || known.contains(trial.spec.mesh_idx)) continue;
    if (represented != same.end() && known.contains(represented->second)) continue;
    if (trial.measurement()->timing.median >= least) continue;
    fastest = &trial;
    least = trial.measurement()->timing.median;
  }
  return fastest;
}

// All of them have their memory at the same time. First comes the best spec, then come the baselines.
void cut_to_memory(Contenders& contenders, const exec::RequestFactory& requests, bool one_process,
                   results::Notices& notes) {
  const auto& [specs, baselines] = contenders;
  std::vector<std::int64_t> workspaces;
  const auto add = [&](const wire::Contender& contender) {
    workspaces.push_back(contender.entrant.is_vendor() ? 0
                         : contender.stored            ? contender.stored->request.workspace_bytes()
                                                       : requests.measure(contender.entrant.spec).workspace_bytes());
  };
  add(specs.front());
  std::ranges::for_each(baselines, add);
  std::ranges::for_each(specs.begin() + 1, specs.end(), add);
  const wire::Hello& hello = requests.hello();
  auto fitting = exec::processes_that_fit(hello.backend, requests.plan().problem, hello.device, workspaces);
  if (one_process) fitting = 1;
  const std::size_t all = contenders.count();
  if (!fitting || all <= static_cast<std::size_t>(*fitting)) return;
  const auto most = static_cast<std::size_t>(*fitting);
  cut(contenders, most);
  if (one_process)
    notes.add(
        "there were no finals, which need several processes at a time: the device is in exclusive-process mode "
        "(nvidia-smi -c DEFAULT ends that)");
  else if (most == 1)
    notes.add("there were no finals, which need several processes at a time: the device has memory for one");
  else
    notes.add(fmt::format("the finals have {} of {} contenders: the device has memory for no more", most, all));
}

void mark_slow(Contenders& contenders, std::span<const Trial> trials) {
  const auto measured = [&](const wire::Contender& contender) -> const Measurement& {
    return *find_trial(trials, contender.entrant.spec.mesh_idx)->measurement();
  };
  const double most = 2 * measured(contenders.specs.front()).timing.median;
  for (wire::Contender& contender : contenders.specs) {
    double least = measured(contender).timing.median;
    for (const double other : {measured(contender).timing.ci_low, measured(contender).clean_seconds})
      if (other > 0) least = std::min(least, other);
    contender.was_slow = least > most;
  }
}

void leave_out_slow(Contenders& contenders) {
  std::erase_if(contenders.specs,
                [](const wire::Contender& each) { return each.was_slow && !each.entrant.is_default(); });
}

double round_seconds(const Contenders& contenders, std::span<const Trial> trials, const exec::FinalsRules& rules) {
  double seconds = 0;
  for (std::size_t i = 0; i < contenders.count(); ++i) seconds += turn_seconds(contenders, i, trials, rules);
  return seconds;
}

void cut_to_time(Contenders& contenders, std::span<const Trial> trials, const exec::FinalsRules& rules,
                 double seconds_left) {
  const auto& [specs, baselines] = contenders;
  const bool has_default = std::ranges::any_of(specs, &Entrant::is_default, &wire::Contender::entrant);
  const std::size_t all = contenders.count();
  const std::size_t sure = 2 + baselines.size() + (has_default ? 1 : 0);
  double round = 0;  // seconds
  std::size_t most = 0;
  for (std::size_t i = 0; i < all; ++i) {
    round += turn_seconds(contenders, i, trials, rules);
    if (round * (i < sure ? 1 : Judge::kFewest) <= seconds_left) most = i + 1;
  }
  if (most < all) cut(contenders, std::max<std::size_t>(most, 1));
}

}  // namespace tune::tuning

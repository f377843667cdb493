#include "results/comparison/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "config/recorded/best_yaml.h"
#include "model/statistics/tournament.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "platform/files/file.h"
#include "report/summary.h"
#include "results/comparison/shape_comparison.h"
#include "wire/messages.h"

namespace tune::results {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ExitCode::bad_input, text); }

std::string problem_text(const ProblemTimes& times) {
  return times.problem.empty() ? "an unnamed problem" : line_with_escapes(times.problem);
}

/// The problem of the other run that is the same as this one of `before`, if possible of the same kernel and device;
/// null: there is none.
const ProblemTimes* find_same(const ProblemTimes& problem, const RecordedTimes& before, const RecordedTimes& run) {
  const bool only_one = before.problems.size() == 1 && run.problems.size() == 1;
  if (only_one && (problem.problem.empty() || run.problems.front().problem.empty())) return &run.problems.front();
  const ProblemTimes* found = nullptr;
  int most_alike = 0;
  for (const ProblemTimes& other : run.problems) {
    const int alike = 1 + 2 * int{other.kernel == problem.kernel} + int{other.device == problem.device};
    if (other.problem != problem.problem || alike <= most_alike) continue;
    found = &other;
    most_alike = alike;
  }
  return found;
}

std::string no_time_text(const RecordedTimes& before, const ProblemTimes& problem) {
  return fmt::format("{}: no spec of {} has a time to compare with (the first failure: {})", before.file,
                     problem_text(problem), line_with_escapes(why_no_time(problem)));
}

[[noreturn]] void refuse_for_lack_of_times(const RecordedTimes& before, const ProblemTimes& problem) {
  refuse(no_time_text(before, problem) + "; give a result in which one has");
}

/// That the times of a problem are those of two devices; empty: they are not.
std::string two_devices_text(const RecordedTimes& before, const RecordedTimes& now, const ProblemTimes& then,
                             const ProblemTimes& today) {
  if (then.device.empty() || today.device.empty() || then.device == today.device) return "";
  return fmt::format("{} is of the device {}, and {} of {}", before.file, line_with_escapes(then.device), now.file,
                     line_with_escapes(today.device));
}

/// Adds what was found for a problem, unless what the runs found has nothing to do with each other.
void add_shape(const ProblemTimes& before, const ProblemTimes& now, ComparedShape shape, RunComparison& comparison) {
  if (before.kernel.empty() || now.kernel.empty() || before.kernel == now.kernel) {
    comparison.shapes.push_back(std::move(shape));
    return;
  }
  const std::string text =
      fmt::format("{} is of {}, and {} of {}", comparison.before.file, line_with_escapes(before.kernel),
                  comparison.now.file, line_with_escapes(now.kernel));
  const auto in_both = [](const ComparedSpec& row) {
    return row.change != Change::only_before && row.change != Change::only_now;
  };
  if (std::ranges::none_of(shape.specs, in_both)) {
    comparison.warnings.push_back(text + ": no spec is in both");
    return;
  }
  comparison.warnings.push_back(text);
  comparison.shapes.push_back(std::move(shape));
}

void refuse_two_devices(const RecordedTimes& before, const RecordedTimes& now, const ProblemTimes& then,
                        const ProblemTimes& today, const ComparisonRules& rules) {
  const std::string text = two_devices_text(before, now, then, today);
  if (text.empty() || rules.any_device) return;
  refuse(text +
         ": what changed in the kernel cannot be told from what differs between the devices; tune diff --any-device "
         "compares them all the same");
}

void warn_of_versions(const RecordedTimes& before, const RecordedTimes& now, RunComparison& comparison) {
  for (const RecordedTimes* run : {&before, &now})
    if (run->protocol > wire::kProtocol)
      comparison.warnings.push_back(run->file +
                                    " is of a newer version of tune: what this version does not know of it "
                                    "is left out");
  if (before.protocol != 0 && now.protocol != 0 && before.protocol != now.protocol)
    comparison.warnings.push_back(
        "the results are of versions of tune that measure in different ways, so that times may "
        "differ for this reason");
}

void warn_of_statistics(RunComparison& comparison) {
  const std::string median = to_text(TimeRule());
  const ComparedRun &before = comparison.before, &now = comparison.now;
  const auto or_median = [&](const ComparedRun& run) { return run.statistic.empty() ? median : run.statistic; };
  if (or_median(before) == or_median(now)) return;
  const auto text = [](const ComparedRun& run) {
    return run.statistic.empty() ? run.file + " does not say what its times are"
                                 : fmt::format("{} has the {} of each spec's launches", run.file, run.statistic);
  };
  comparison.warnings.push_back(text(before) + ", and " + text(now) +
                                ": times of the sweep differ for this reason, and only those of the finals can be "
                                "compared");
}

/// Warns if the vendor's library, which no change of the kernel concerns, has become slower or faster too.
void warn_of_machine(RunComparison& comparison) {
  for (const ComparedShape& shape : comparison.shapes)
    for (const ComparedSpec& row : shape.best)
      if (row.entrant.kind == Entrant::Kind::vendor_first &&
          (row.change == Change::slower || row.change == Change::faster))
        comparison.warnings.push_back(
            fmt::format("{}the vendor's library took {:.3f} times as long, which no change of the kernel explains: the "
                        "machine or the library is not as it was",
                        shape.problem.empty() ? "" : line_with_escapes(shape.problem) + ": ", *row.ratio));
}

void warn_of_unknown_noise(RunComparison& comparison) {
  for (const ComparedShape& shape : comparison.shapes)
    if (const ComparedSpec& best = shape.best.front();
        best.change == Change::unknown && best.ratio && *best.ratio > 1 + comparison.threshold)
      comparison.warnings.push_back(fmt::format(
          "{}the best took {:.3f} times as long, but its noise is not known: it was timed fewer than five times",
          shape.problem.empty() ? "" : line_with_escapes(shape.problem) + ": ", *best.ratio));
}

void warn_of_missing(const std::vector<std::string>& problems, const ComparedRun& run, RunComparison& comparison) {
  if (!problems.empty())
    comparison.warnings.push_back(fmt::format("only in {}: {}", run.file, fmt::join(problems, ", ")));
}

std::vector<std::string> texts_of(const std::vector<ProblemTimes>& problems) {
  std::vector<std::string> texts;
  for (const ProblemTimes& problem : problems) texts.push_back(problem_text(problem));
  return texts;
}

/// What all problems of a run have in common.
ComparedRun heading_of(const RecordedTimes& run) {
  const auto common = [&](auto member) {
    const std::string& first = run.problems.front().*member;
    return std::ranges::all_of(run.problems, [&](const ProblemTimes& p) { return p.*member == first; }) ? first : "";
  };
  return {run.file, common(&ProblemTimes::kernel), common(&ProblemTimes::device), common(&ProblemTimes::statistic)};
}

/// Everything but what follows from all rows together.
RunComparison collected(const RecordedTimes& before, const RecordedTimes& now, const ComparisonRules& rules) {
  RunComparison comparison;
  comparison.before = heading_of(before);
  comparison.now = heading_of(now);
  comparison.threshold = rules.threshold;
  std::set<std::string> of_two_devices;
  std::vector<ProblemTimes> only_before, only_now = now.problems, without_times;
  for (const ProblemTimes& problem : before.problems) {
    const ProblemTimes* same = find_same(problem, before, now);
    if (same == nullptr) {
      only_before.push_back(problem);
      continue;
    }
    std::erase_if(only_now, [&](const ProblemTimes& p) {
      return p.problem == same->problem && p.kernel == same->kernel && p.device == same->device;
    });
    refuse_two_devices(before, now, problem, *same, rules);
    if (!problem.best) {
      without_times.push_back(problem);
      continue;
    }
    of_two_devices.insert(two_devices_text(before, now, problem, *same));
    ComparedShape shape = compared_shape(problem, *same);
    if (comparison.now.device.empty() && !same->device.empty()) shape.problem += " on " + same->device;
    add_shape(problem, *same, std::move(shape), comparison);
  }
  of_two_devices.erase("");
  for (const std::string& text : of_two_devices)
    comparison.warnings.push_back(text + ": the changes are also those of the device");
  if (comparison.shapes.empty() && !without_times.empty()) refuse_for_lack_of_times(before, without_times.front());
  for (const ProblemTimes& problem : without_times) comparison.warnings.push_back(no_time_text(before, problem));
  warn_of_missing(texts_of(only_before), comparison.before, comparison);
  warn_of_missing(texts_of(only_now), comparison.now, comparison);
  warn_of_versions(before, now, comparison);
  return comparison;
}

RunComparison judged(RunComparison comparison) {
  judge(comparison);
  warn_of_unknown_noise(comparison);
  warn_of_machine(comparison);
  return comparison;
}

/// Compares two of these finals by their rounds.
Judge judge_of(const Finals& finals) {
  std::vector<const Finalist*> specs;
  for (const Finalist& finalist : finals.finalists)
    if (finalist.entrant.is_spec()) specs.push_back(&finalist);
  return judge_of_two(specs);
}

/// The best of a run beside an earlier one that it has timed again; nullopt if one of them did not come through.
std::optional<ComparedSpec> timed_again(const Finals& finals, const ComparedSpec& recorded, const std::string& label) {
  const auto find = [&](const auto& is_it) {
    const auto found = std::ranges::find_if(finals.finalists, is_it);
    return found == finals.finalists.end() || !finished(*found) ? nullptr : &*found;
  };
  const Finalist* then = find([&](const Finalist& f) { return f.entrant.name == label; });
  const Finalist* best = find([&](const Finalist& f) { return f.entrant.is(recorded.entrant.spec.mesh_idx); });
  if (then == nullptr || best == nullptr || has_costs(*then) != has_costs(*best)) return std::nullopt;
  const std::vector<double> per_round = ratios(*best, *then, Basis::objective);
  if (per_round.size() < Judge::kFewest) return std::nullopt;
  ComparedSpec row = recorded;
  row.before = Estimate{median_seconds(*then)};
  row.ratio = median(per_round);
  row.interval = judge_of(finals).safe_interval(*best, *then);
  row.paired = true;
  return row;
}

/// The one that the finals call so; nullptr: it took no part.
const Finalist* find_named(const Finals& finals, const std::string& label) {
  const auto found = std::ranges::find_if(finals.finalists, [&](const Finalist& f) { return f.entrant.name == label; });
  return found != finals.finalists.end() ? &*found : nullptr;
}

/// Why timed_again() found nothing although the earlier one took part.
std::string why_not_timed(const Finalist& then) {
  return then.failure ? "it failed in the finals: " + then.failure->headline()
                      : "the two had too few rounds of finals in common";
}

/// Whether it is only not slower because the speed of the machine differs between runs.
bool may_be_chance(const ComparedSpec& row, double threshold) {
  return row.change == Change::open && row.interval->low > 1 + threshold;
}

/// What tells more of the best than a time of another run.
void doubt_recorded_time(RunComparison& comparison, Backend backend) {
  ComparedShape& shape = comparison.shapes.front();
  ComparedSpec& best = shape.best.front();
  if (best.change == Change::slower && best.interval->low < best.interval->high &&
      best.interval->low <= shape.least_slowdown)
    best.change = Change::open;  // of another objective than the time
  if (!may_be_chance(best, comparison.threshold) || !comparison.why_recorded.empty()) return;
  comparison.why_recorded = "only that is known, and the speed differs between runs";
  comparison.next = is_program(backend)
                        ? "--baseline NAME=VALUE times the old one in turns with the new one, as a spec of the same run"
                        : "the best.yaml of the old run for --baseline times its winner in turns, as it was built then";
}

void warn_of_chance(RunComparison& comparison) {
  for (const ComparedShape& shape : comparison.shapes)
    for (const auto* rows : {&shape.best, &shape.specs})
      for (const ComparedSpec& row : *rows)
        if (may_be_chance(row, comparison.threshold)) {
          comparison.warnings.emplace_back(
              "runs on a CPU differ by more than the intervals tell, so that less than twice the time is open; "
              "tune --baseline times the winners of both in turns");
          return;
        }
}

/// The recorded figure if it is this one with the digits of a best.yaml: six, or all of a whole number.
double as_recorded(double figure, double recorded) {
  return number_from<double>(fmt::format("{:.6g}", figure)) == recorded ? recorded : figure;
}

}  // namespace

void require_comparable(const RecordedTimes& before, const RecordedTimes& now, const ComparisonRules& rules) {
  bool any = false;
  for (const ProblemTimes& problem : before.problems) {
    const ProblemTimes* same = find_same(problem, before, now);
    if (same == nullptr) continue;
    any = true;
    if (!problem.best) refuse_for_lack_of_times(before, problem);
    refuse_two_devices(before, now, problem, *same, rules);
  }
  if (!any)
    refuse(fmt::format("no problem is in both: {} is of {}, and {} of {}", before.file,
                       fmt::join(texts_of(before.problems), ", "), now.file, fmt::join(texts_of(now.problems), ", ")));
}

RunComparison compare(const RecordedTimes& before, const RecordedTimes& now, const ComparisonRules& rules) {
  RunComparison comparison = collected(before, now, rules);
  comparison.same_run = rules.same_run;
  warn_of_statistics(comparison);
  comparison = judged(std::move(comparison));
  warn_of_chance(comparison);
  return comparison;
}

RunComparison compare_with_earlier(RecordedTimes before, const RecordedTimes& now, const TuningOutcome& outcome,
                                   const std::string& label, const ComparisonRules& rules) {
  if (before.problems.size() > 1)
    std::erase_if(before.problems, [&](const ProblemTimes& p) { return p.problem != now.problems.front().problem; });
  require_comparable(before, now, rules);
  RunComparison comparison = collected(before, now, rules);
  if (comparison.shapes.empty()) refuse(comparison.warnings.front());
  comparison.label = label;
  ComparedShape& shape = comparison.shapes.front();
  const Finals* finals = outcome.finals.held();
  const auto again = finals != nullptr ? timed_again(*finals, shape.best.front(), label) : std::nullopt;
  shape.specs.clear();
  if (const ComparedSpec& best = shape.best.front(); outcome.same_as_earlier.contains(best.entrant.spec.mesh_idx)) {
    shape.best = {{best.entrant, best.old_spec, best.before, best.now, "", 1, Interval{1, 1}, true, true}};
  } else if (again) {
    shape.best = {*again};
  } else {
    const Finalist* then = finals != nullptr ? find_named(*finals, label) : nullptr;
    if (then != nullptr) comparison.why_recorded = why_not_timed(*then);
    warn_of_statistics(comparison);
    comparison = judged(std::move(comparison));
    doubt_recorded_time(comparison, now.problems.front().backend);
    return comparison;
  }
  return judged(std::move(comparison));
}

RunComparison compare_with_contender(const RecordedTimes& now, const TuningOutcome& outcome, const std::string& label,
                                     const ComparisonRules& rules) {
  const ProblemTimes& problem = now.problems.front();
  const SpecTimes& winner = problem.specs[*problem.best];
  RunComparison comparison;
  comparison.now = heading_of(now);
  comparison.before = comparison.now;
  comparison.before.file = comparison.label = label;
  comparison.with_spec = true;
  comparison.threshold = rules.threshold;
  ComparedSpec best;
  best.entrant = {winner.spec, Entrant::Kind::best, "best"};
  best.now = winner.finals ? winner.finals : winner.sweep;
  const Finals* finals = outcome.finals.held();
  const auto again = finals != nullptr ? timed_again(*finals, best, label) : std::nullopt;
  comparison.shapes.push_back({problem.problem, {}, {again.value_or(best)}, {}});
  if (again) return judged(std::move(comparison));
  // A winner without anything to be compared with is no better than that.
  const Finalist* then = finals != nullptr ? find_named(*finals, label) : nullptr;
  comparison.old_failed = then == nullptr || then->failure.has_value();
  comparison.why_recorded =
      then == nullptr ? "it took no part in the finals, and a note below says why" : why_not_timed(*then);
  return comparison;
}

std::optional<double> recorded_cost(const std::filesystem::path& best, const Objective& objective) {
  const auto figures =
      platform::is_yaml(best) ? config::read_best(best).result.figures : std::map<std::string, double>();
  const bool is_efficiency = objective.name() == "gflops_per_watt";
  for (const std::string& title :
       {is_efficiency ? report::efficiency_column(1).name : objective.name(), objective.name() + " (reported)"})
    if (const auto found = figures.find(title); found != figures.end())
      return Merit{found->second, objective.maximize(), false}.cost();
  return std::nullopt;
}

void compare_costs(std::optional<double> before, const Objective& objective, const TuningOutcome& outcome,
                   RunComparison& comparison) {
  ComparedShape& shape = comparison.shapes.front();
  ComparedSpec& row = shape.best.front();
  row.ratio = std::nullopt;
  row.interval = std::nullopt;
  row.paired = true;
  if (!before) return judge(comparison);
  const std::int64_t winner = row.entrant.spec.mesh_idx;
  const Trial* trial = find_trial(outcome.trials, winner);
  const Finals* finals = outcome.finals.held();
  const Finalist* found = finals != nullptr ? find_spec(*finals, winner) : nullptr;
  Finalist now = found != nullptr ? *found : Finalist(), then;
  if (!has_costs(now)) now.rounds = {{0, {.cost = objective.merit(trial->spec, *trial->measurement()).cost()}}};
  for (auto& [number, round] : now.rounds) {
    if (!round.cost) continue;
    round.cost = as_recorded(*round.cost, *before);
    then.rounds[number].cost = *before;
  }
  row.ratio = ratio_of_costs(median_cost(now), *before);
  row.interval = (finals != nullptr ? judge_of(*finals) : Judge(2)).safe_interval(now, then);
  if (row.interval)
    for (double* end : {&row.interval->low, &row.interval->high})
      *end = *row.ratio * std::pow(*end / *row.ratio, std::numbers::sqrt2);
  judge(comparison);
}

}  // namespace tune::results

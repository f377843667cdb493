#include "results/verdict/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/device.h"
#include "model/statistics/tournament.h"
#include "model/values/text.h"

namespace tune::results {
namespace {

constexpr double kShortRun = 0.005;
constexpr double kStolen = 0.005;  // of the cores, from which on the host is named as a cause

/// Whether there is a spec with other code that the sweep did not show to be too slow.
bool has_rivals(const report::Summary& summary, const TuningOutcome& outcome) {
  return !outcome.finals.unrivalled && std::ranges::any_of(summary.ranking.rows, [&](const Ranked& row) {
    return &row != &summary.ranking.rows.front() && row.same_as == nullptr;
  });
}

/// Of its rounds; older finals have none.
std::vector<double> costs_of(const Ranked& row, const TuningOutcome& outcome) {
  const Finals* finals = outcome.finals.held();
  const Finalist* finalist = finals != nullptr ? find_spec(*finals, row.timed().spec.mesh_idx) : nullptr;
  return finalist != nullptr ? tune::costs_of(*finalist) : std::vector<double>();
}

/// Half the 95 % interval of the median, over it; nullopt if that is not known, or has both signs.
std::optional<double> width_of(const std::vector<double>& costs) {
  if (costs.size() < 2) return std::nullopt;
  const auto [low, high] = median_interval(costs);
  if (low == high) return 0;
  return low * high > 0 ? std::optional((high - low) / 2 / std::fabs(median(costs))) : std::nullopt;
}

std::string why_none(NoFinals::Why why) {
  const std::string head = "no finals were held";
  switch (why) {
    case NoFinals::Why::not_due:
    case NoFinals::Why::not_recorded:
      return head;
    case NoFinals::Why::not_wanted:
      return head + ": --no-finals";
    case NoFinals::Why::recorded_times_decide:
      return head + ": the recorded times decide";
    case NoFinals::Why::one_process:
      return head + ": the device admits one process";
    case NoFinals::Why::memory_for_one:
      return head + ": the device has memory for one spec";
    case NoFinals::Why::no_time:
      return head + ": there was no time for two specs";
  }
  return head;
}

std::string throttle_text(double metric) {
  const auto bits = static_cast<std::uint64_t>(metric);
  if ((bits & Throttle::heat) != 0) return "heat slowed the device down";
  if ((bits & (Throttle::hardware | Throttle::power_brake)) != 0) return "the hardware slowed the device down";
  return (bits & Throttle::power_cap) != 0 ? "the device was at its power cap" : "";
}

}  // namespace

std::string percent(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", share * 100) : fmt::format("{:.2g} %", share * 100);
}

std::string percent_at_most(double share) {
  const double step = share >= 0.1 ? 0.01 : std::pow(10, std::floor(std::log10(share)) - 1);
  return percent(std::ceil(share / step - 1e-9) * step);
}

Standing::Standing(const report::Summary& its_summary, const TuningOutcome& its_outcome, const Demands& its_demands)
    : summary(&its_summary),
      outcome(&its_outcome),
      demands(&its_demands),
      winner(&summary->ranking.rows.front()),
      by_time(!summary->ranked_by),
      by_rounds(by_time || !costs_of(*winner, *outcome).empty()),
      accuracy(demands->accuracy.value_or(kAccuracy)),
      seconds(winner->time().seconds),
      time_width(relative_width(winner->time())),
      width(by_time ? time_width : width_of(costs_of(*winner, *outcome))),
      loss(has_rivals(*summary, *outcome) ? summary->ranking.loss : std::optional(0.0)) {}

Decision Standing::decision() const {
  Decision result = why_open().empty() ? Decision::decided : Decision::undecided;
  const bool asked_of_winner = demands->accuracy || demands->noise;
  if (outcome->comparison && !asked_of_winner) result = Decision::pass;  // nobody asked for more
  if (asked_of_winner && result == Decision::decided) result = knows_its_time() ? Decision::pass : Decision::undecided;
  if (!outcome->comparison) return result;
  if (outcome->comparison->old_failed) return Decision::fail;
  const Answer answer = is_slower(*outcome->comparison);
  return std::max(result, answer == Answer::yes    ? Decision::fail
                          : answer == Answer::open ? Decision::undecided
                                                   : Decision::pass);
}

std::string Standing::why_open() const {
  if (outcome->ended_early) return "the run ended early";
  if (!summary->objectives.empty())
    return std::ranges::count_if(summary->ranking.rows, &Ranked::on_front) == 1
               ? "no other spec is better in any objective, but with several the finals do not test that"
               : "of several objectives none decides; the specs marked pareto are the choice";
  if (has_tried_one_in_time())
    return fmt::format("--time-budget {:.4g}s was too short for another of {} specs", *demands->time_budget,
                       summary->specs->text());
  if (!has_rivals(*summary, *outcome)) return "";
  if (outcome->finals.interrupted) return "the finals were interrupted";
  const HeldFinals* held = outcome->finals.held();
  if (held == nullptr) return why_none(outcome->finals.none()->why);
  if (!by_rounds) return "these finals compared times, which the objective does not follow from";
  if (!loss)
    return fmt::format("it takes {} rounds to tell it from others, and there was time for {}", fewest_rounds(),
                       winner->finals_result ? winner->finals_result->rounds : 0);
  if (*loss > kVeryMuch) return fmt::format("noise hides whether others are {}", by_time ? "faster" : "better");
  if (*loss > accuracy)
    return fmt::format("others may be up to {} {}", percent_at_most(*loss), by_time ? "faster" : "better");
  if (const int left_out = held->disturbed.left_out; left_out > 0)
    return "the finals had no room for " + plural(left_out, "spec") + " that something disturbed in the sweep";
  if (held->overlooked) return fmt::format("spec {} was faster in the sweep", *held->overlooked);
  return "";
}

std::vector<const Ranked*> Standing::open_rows() const {
  std::vector<const Ranked*> rows;
  for (const Ranked& row : summary->ranking.rows)
    if (row.finals_result && row.same_as == nullptr && by_rounds &&
        row.finals_result->loss.value_or(INFINITY) > accuracy)
      rows.push_back(&row);
  return rows;
}

bool Standing::knows_its_time() const { return !demands->noise || (time_width && *time_width <= *demands->noise); }

bool Standing::has_tried_one_in_time() const {
  return demands->time_budget && summary->trials.size() == 1 && !summary->tried_all();
}

int Standing::fewest_rounds() const {
  const auto specs = std::ranges::count_if(outcome->finals.held()->finalists,
                                           [](const Finalist& finalist) { return finalist.entrant.is_spec(); });
  return Judge(static_cast<std::size_t>(specs)).fewest_rounds();
}

std::string Standing::noise_cause() const {
  if (noise_width() && *noise_width() <= kWide && !is_about_times()) return "";  // whatever became of the times
  if (winner->finals_result)
    if (const auto found = winner->finals_result->metrics.find("throttle");
        found != winner->finals_result->metrics.end())
      if (std::string text = throttle_text(found->second); !text.empty()) return text;
  const Finals* finals = outcome->finals.held();
  std::vector<std::string> causes;
  if (finals != nullptr && finals->others_running.value_or(0) >= kBusy)
    causes.push_back(fmt::format("other programs had {:.1f} of {} cores", *finals->others_running, finals->cores));
  if (finals != nullptr && finals->cores > 0 && finals->stolen_cores >= kStolen * finals->cores)
    causes.push_back(fmt::format("the host of this virtual machine took {} of its {} cores",
                                 percent(finals->stolen_cores / finals->cores), finals->cores));
  return fmt::format("{}", fmt::join(causes, ", and "));
}

bool Standing::is_about_times() const {
  return by_time ||
         std::ranges::count(summary->objectives, "time") + std::ranges::count(summary->objectives, "gflops") > 0;
}

std::optional<double> Standing::noise_width() const { return is_about_times() ? time_width : width; }

bool Standing::has_short_runs() const {
  return by_time && seconds < kShortRun && loss != 0.0 && is_of_whole_command(*winner->timed().measurement());
}

}  // namespace tune::results

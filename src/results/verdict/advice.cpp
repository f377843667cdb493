#include "results/verdict/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/statistics/finals_settings.h"
#include "model/statistics/sequential.h"

namespace tune::results {
namespace {

constexpr double kLeastAdvised = 10;   // seconds of finals that are worth advice
constexpr double kUnknownFinals = 30;  // seconds that recorded finals are taken to have had if nobody noted them
constexpr double kMargin = 1.5;        // of the seconds that so many rounds should take

/// Whether no more rounds can tell the two results apart, because only the new one was timed now.
bool compares_recorded_times(const Standing& standing) {
  return standing.outcome->comparison && is_slower(*standing.outcome->comparison) == Answer::open &&
         !best_of(*standing.outcome->comparison).paired && !standing.outcome->comparison->with_spec;
}

std::string same_command(const Standing& standing, const std::string& option) {
  const auto has = [&](const std::string& word) {
    return std::ranges::find(standing.summary->command, word) != standing.summary->command.end();
  };
  return has(option) ? "the same command" : "the same command with " + option + (has("--") ? " before its --" : "");
}

/// The command that measures both again.
std::string measured_again(const Standing& standing) {
  return standing.demands->fresh ? "the same command" : same_command(standing, "--fresh");
}

bool asks_of_winner(const Standing& standing) { return standing.demands->accuracy || standing.demands->noise; }

/// What the winner costs as it stands, for those who only look for the best; empty: that is not known.
std::string price_of_winner(const Standing& standing) {
  if (standing.outcome->comparison || asks_of_winner(standing)) return "";
  if (!standing.loss || *standing.loss > kVeryMuch) return "";
  return fmt::format("take it and lose at most {}; ", percent_at_most(*standing.loss));
}

/// What decides after the last round there is.
std::string without_more_rounds(const Standing& standing) {
  if (!standing.noise_cause().empty())
    return "more rounds do not help; when the noise is over, " + measured_again(standing);
  if (!price_of_winner(standing).empty()) return "more rounds do not help";
  const auto& comparison = standing.outcome->comparison;
  if (!comparison || is_slower(*comparison) != Answer::open || asks_of_winner(standing) ||
      !best_of(*comparison).interval)
    return "take any of them, or allow more with --accuracy";
  if (is_vague_ratio(*best_of(*comparison).interval)) return measured_again(standing) + ", on a quieter machine";
  return fmt::format("more rounds do not help; {} measures again, and --threshold {:.0f}% would have passed",
                     measured_again(standing), std::ceil((best_of(*comparison).interval->high - 1) * 100));
}

double in_tens(double seconds) { return std::max(kLeastAdvised, std::ceil(seconds / 10) * 10); }

int rounds_of(const Standing& standing) {
  return standing.winner->finals_result ? standing.winner->finals_result->rounds : 0;
}

/// That all rounds would not tell what is wanted if the noise stays as it is, for those who have asked for longer
/// finals before; empty: they would, or nobody knows.
std::string reachable_text(const Standing& standing) {
  const int rounds = rounds_of(standing);
  if (!standing.demands->finals_budget || !standing.loss || rounds < 1) return "";
  const int most = SequentialIntervals::looks().back();
  const double reachable = *standing.loss * std::sqrt(static_cast<double>(rounds) / most);
  if (reachable <= standing.accuracy || reachable > kVeryMuch) return "";
  return fmt::format(
      "all {} rounds would tell no better than {:.0f} % with this noise, which --accuracy {:.0f}% accepts", most,
      std::ceil(reachable * 100), std::ceil(reachable * 100));
}

double longer_seconds(const Standing& standing, const Finals& finals) {
  const int rounds = rounds_of(standing);
  const double taken = finals.seconds > 0 ? finals.seconds : kUnknownFinals;
  const bool has_too_few = !standing.loss && rounds > 0;
  return std::max(2 * taken, has_too_few ? kMargin * taken / rounds * standing.fewest_rounds() : 0);
}

/// The command whose finals last at least twice as long as these, and long enough for the rounds that it takes.
std::string longer_finals(const Standing& standing) {
  const Demands& demands = *standing.demands;
  const HeldFinals* held = standing.outcome->finals.held();
  const double seconds = in_tens(held != nullptr ? longer_seconds(standing, *held)
                                                 : kMargin * standing.outcome->finals.none()->needed_seconds);
  const std::string budget = fmt::format("--finals-budget {:.0f}s", seconds);
  const double room = held != nullptr ? held->room.value_or(0) : 0;
  if (!demands.time_budget || seconds <= room) return same_command(standing, budget) + " holds longer finals";
  // A longer run tries more specs, too, and leaves the finals no more than their share.
  const bool tried_all = standing.summary->specs && standing.summary->tried_all();
  const double with_sweep = *demands.time_budget - room + seconds;
  const double run = in_tens(tried_all ? with_sweep : std::max(with_sweep, seconds / kFinalsShare));
  const bool needs_budget =
      demands.finals_budget ? seconds > *demands.finals_budget : !tried_all && seconds > kFirstRoundsSeconds;
  return fmt::format(
      "{} holds longer finals: --time-budget {:.4g}s leaves these no more time",
      same_command(standing, fmt::format("--time-budget {:.0f}s{}", run, needs_budget ? " " + budget : "")),
      *demands.time_budget);
}

}  // namespace

std::string advice(const Standing& standing) {
  const TuningOutcome& outcome = *standing.outcome;
  if (standing.has_short_runs()) return "give the command more to do, or let it report its own time";
  if (outcome.finals.interrupted) return "the same command holds the finals anew, and repeats nothing else";
  if (outcome.ended_early) return "the same command goes on from here";
  if (outcome.comparison && !standing.by_time && !best_of(*outcome.comparison).interval)
    return best_of(*outcome.comparison).ratio
               ? "one run of both specs compares them in turns"
               : measured_again(standing) + " times both again; if that fails, tune the old source again";
  if (compares_recorded_times(standing)) {
    if (!outcome.comparison->next.empty()) return outcome.comparison->next;
    if (outcome.comparison->why_recorded.empty()) return "";  // the comparison says it
    return measured_again(standing) + " times both again; if that fails, tune the old source on this machine again";
  }
  if (standing.has_tried_one_in_time())
    return same_command(standing, "a longer --time-budget") +
           fmt::format(" tries others; this spec took {:.3g} s", standing.summary->trials.front().seconds);
  if (const NoFinals* none = outcome.finals.none()) {
    if (none->why == NoFinals::Why::no_time) return longer_finals(standing);
    if (none->why == NoFinals::Why::not_wanted) return "the same command without --no-finals times the best in turns";
  }
  if (!standing.summary->objectives.empty()) return "the same command with one objective decides";
  const HeldFinals* held = outcome.finals.held();
  if (held == nullptr || !standing.by_rounds) return "";
  if (standing.loss && (held->disturbed.left_out > 0 || held->overlooked))
    return measured_again(standing) + ", on a quieter machine";
  if (standing.winner->finals_result && standing.winner->finals_result->rounds >= SequentialIntervals::looks().back())
    return price_of_winner(standing) + without_more_rounds(standing);
  const std::string quiet = standing.noise_cause().empty() ? "" : "when the noise is over, ";
  if (const std::string limit = outcome.comparison ? "" : reachable_text(standing); !limit.empty())
    return price_of_winner(standing) + limit + (quiet.empty() ? "" : "; " + quiet + measured_again(standing));
  return price_of_winner(standing) + quiet + longer_finals(standing);
}

}  // namespace tune::results

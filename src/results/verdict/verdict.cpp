#include "results/verdict/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/statistics/finals_time.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "report/text.h"

namespace tune::results {
namespace {

constexpr double kWide = 0.02;
constexpr double kShortRun = 0.005;
constexpr double kVeryMuch = 0.5;  // a loss that says only that little is known
constexpr double kStolen = 0.005;  // of the cores, from which on the host is named as a cause
constexpr std::size_t kNamed = 4;
constexpr double kLeastAdvised = 10;   // seconds of finals that are worth advice
constexpr double kUnknownFinals = 30;  // seconds that recorded finals are taken to have had if nobody noted them
constexpr double kMargin = 1.5;        // of the seconds that so many rounds should take

std::string percent(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", share * 100) : fmt::format("{:.2g} %", share * 100);
}

std::string times_text(double ratio) {
  if (ratio < 1) return fmt::format("{:.3g}", ratio);
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string throttle_text(double flags) {
  const auto bits = static_cast<int>(flags);
  if ((bits & (32 | 64)) != 0) return "heat slowed the device down";
  if ((bits & (8 | 128)) != 0) return "the hardware slowed the device down";
  return (bits & 4) != 0 ? "the device was at its power cap" : "";
}

/// `DECIDED: `, and which of several tunings it is of.
std::string head_of(const Verdict& verdict, const report::Summary& summary) {
  return fmt::format("{}: {}", to_text(verdict.decision),
                     summary.label.empty() ? "" : line_with_escapes(summary.label) + ": ");
}

/// `3 specs`, or `the 3 of 1,152 specs that were tried`
std::string tried(const report::Summary& summary) {
  const std::string count = std::to_string(summary.trials.size());
  return summary.specs.empty() || summary.specs == count
             ? plural(summary.trials.size(), "spec")
             : fmt::format("the {} of {} specs that were tried", count, summary.specs);
}

/// Whether a spec failed that may work in another run of the same.
bool may_work_again(const Trial& trial) {
  const Failure* failure = trial.failure();
  return failure != nullptr && (failure->facts.machine_suspected || failure->facts.not_tried);
}

/// The verdict on a winner. Precondition: there is one.
class WinnerVerdict {
 public:
  WinnerVerdict(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands)
      : summary_(&summary),
        outcome_(&outcome),
        demands_(&demands),
        winner_(&summary.ranking.rows.front()),
        costs_(costs_of(*winner_)),
        by_time_(summary.ranked_by.empty()),
        by_rounds_(by_time_ || !costs_.empty()),
        accuracy_(demands.accuracy.value_or(kAccuracy)) {
    seconds_ = winner_->time().seconds;
    time_width_ = relative_width(winner_->time());
    width_ = by_time_ ? time_width_ : width_of(costs_);
    loss_ = has_rivals() ? summary.ranking.loss : std::optional(0.0);
  }

  Verdict verdict() const {
    Verdict verdict;
    verdict.why = why_open();
    verdict.loss = loss_;
    verdict.accuracy = accuracy_;
    for (const Ranked* row : open_rows()) verdict.open.push_back(row->trial->spec.mesh_idx);
    if (outcome_->comparison) {
      verdict.compared = best_of(*outcome_->comparison);
      verdict.threshold = outcome_->comparison->threshold;
    }
    verdict.asked = demands_->accuracy || demands_->noise || verdict.compared;
    verdict.decision = decision();
    verdict.lines = lines(verdict);
    return verdict;
  }

 private:
  /// Whether there is a spec with other code that the sweep did not show to be too slow.
  bool has_rivals() const {
    return !outcome_->finals.unrivalled && std::ranges::any_of(summary_->ranking.rows, [&](const Ranked& row) {
      return &row != winner_ && row.same_as == nullptr;
    });
  }

  /// Of its rounds; older finals have none.
  std::vector<double> costs_of(const Ranked& row) const {
    const auto& finals = outcome_->finals.held;
    const Finalist* finalist = finals ? find_spec(*finals, row.timed().spec.mesh_idx) : nullptr;
    return finalist != nullptr ? tune::costs_of(*finalist) : std::vector<double>();
  }

  /// Half the 95 % interval of the median, over it; nullopt if that is not known, or has both signs.
  static std::optional<double> width_of(const std::vector<double>& costs) {
    if (costs.size() < 2) return std::nullopt;
    const auto [low, high] = median_interval(costs);
    if (low == high) return 0;
    return low * high > 0 ? std::optional((high - low) / 2 / std::fabs(median(costs))) : std::nullopt;
  }

  /// One spec tells nothing of the others.
  bool has_tried_one_in_time() const {
    return outcome_->finals.limits.time_budget && summary_->trials.size() == 1 && !summary_->specs.empty() &&
           summary_->specs != "1";
  }

  std::string why_open() const {
    if (outcome_->ended_early) return "the run ended early";
    if (!summary_->objectives.empty())
      return std::ranges::count_if(summary_->ranking.rows, &Ranked::on_front) == 1
                 ? "no other spec is better in any objective, but with several the finals do not test that"
                 : "of several objectives none decides; the specs marked pareto are the choice";
    if (has_tried_one_in_time())
      return fmt::format("--time-budget {:.4g}s was too short for another of {} specs",
                         *outcome_->finals.limits.time_budget, summary_->specs);
    if (!has_rivals()) return "";
    if (outcome_->finals.interrupted) return "the finals were interrupted";
    if (!outcome_->finals.held)
      return "no finals were held" + (outcome_->finals.why_none.empty() ? "" : ": " + outcome_->finals.why_none);
    if (!by_rounds_) return "these finals compared times, which the objective does not follow from";
    if (!loss_)
      return fmt::format("it takes {} rounds to tell it from others, and there was time for {}", fewest_rounds(),
                         winner_->finals_result ? winner_->finals_result->rounds : 0);
    if (*loss_ > kVeryMuch) return fmt::format("how {} the others are is not known", by_time_ ? "fast" : "good");
    if (*loss_ > accuracy_)
      return fmt::format("others may be up to {} {}", percent(*loss_), by_time_ ? "faster" : "better");
    if (const int left_out = outcome_->finals.disturbed.left_out; left_out > 0)
      return "the finals had no room for " + plural(left_out, "spec") + " that something disturbed in the sweep";
    if (outcome_->finals.overlooked)
      return fmt::format("spec {} was faster in the sweep", *outcome_->finals.overlooked);
    return "";
  }

  int fewest_rounds() const {
    const auto specs = std::ranges::count_if(outcome_->finals.held->finalists,
                                             [](const Finalist& finalist) { return finalist.entrant.is_spec(); });
    return Judge(static_cast<std::size_t>(specs)).fewest_rounds();
  }

  bool knows_its_time() const { return !demands_->noise || (time_width_ && *time_width_ <= *demands_->noise); }

  Decision decision() const {
    Decision decision = why_open().empty() ? Decision::decided : Decision::undecided;
    const bool asked_of_winner = demands_->accuracy || demands_->noise;
    if (outcome_->comparison && !asked_of_winner) decision = Decision::pass;  // nobody asked for more
    if (asked_of_winner && decision == Decision::decided)
      decision = knows_its_time() ? Decision::pass : Decision::undecided;
    if (!outcome_->comparison) return decision;
    const Answer answer = is_slower(*outcome_->comparison);
    return std::max(decision, answer == Answer::yes    ? Decision::fail
                              : answer == Answer::open ? Decision::undecided
                                                       : Decision::pass);
  }

  std::vector<const Ranked*> open_rows() const {
    std::vector<const Ranked*> rows;
    for (const Ranked& row : summary_->ranking.rows)
      if (row.finals_result && row.same_as == nullptr && by_rounds_ &&
          row.finals_result->loss.value_or(INFINITY) > accuracy_)
        rows.push_back(&row);
    return rows;
  }

  std::string name_of(const Spec& spec) const {
    const std::string settings = report::settings_text(spec, summary_->varying);
    return settings.empty() ? fmt::format("spec {}", spec.mesh_idx)
                            : fmt::format("{} (spec {})", line_with_escapes(settings), spec.mesh_idx);
  }

  /// The winner of the earlier run, without its number, which is that of another grid.
  std::string old_winner(const ComparedSpec& compared) const {
    const std::string settings = report::settings_text(compared.old_spec, summary_->varying);
    return settings.empty() ? "its winner" : line_with_escapes(settings);
  }

  bool works_alone() const {
    return std::ranges::all_of(summary_->trials, [&](const Trial& trial) {
      return trial.failure() != nullptr || trial.spec.mesh_idx == winner_->trial->spec.mesh_idx;
    });
  }

  /// `2.789 ms +-0.4 %`, or `size 165288, 2.789 ms`, or `score 7.2 +-1 %, 2.789 ms`
  std::string values_text() const {
    const std::string width = width_ && *width_ > 0 ? " +-" + percent(*width_) : "";
    std::string text;
    for (const auto& [name, value] : summary_->figures)
      text += fmt::format("{} {}{}, ", line_with_escapes(name), report::whole_or_four_digits(value),
                          name == summary_->ranked_by ? width : "");
    text += report::four_digits(seconds_ * 1e3) + " ms";
    if (!by_time_) return text;
    if (width_) return text + " +-" + percent(*width_);
    return text + (winner_->time().interval ? " (how precisely is not known)" : "");
  }

  /// `BM=64 (spec 17), 2.789 ms +-0.4 %, at most 0.6 % slower than the best of 1152 specs`
  std::string winner_text() const {
    std::string text = name_of(winner_->trial->spec) + ", " + values_text();
    if (const std::string why = why_open(); !why.empty()) return text + "; " + why;
    if (!knows_its_time()) return text + fmt::format("; its time was to be known to +-{}", percent(*demands_->noise));
    if (summary_->trials.size() == 1) return text + ", the only spec that was tried";
    if (works_alone()) return text + fmt::format(", and all others of {} failed", tried(*summary_));
    const std::string best = by_time_ ? "fastest" : "best", than = by_time_ ? "slower" : "worse";
    text += *loss_ == 0 ? ", the " + best : fmt::format(", at most {} {} than the best", percent(*loss_), than);
    const auto failed =
        std::ranges::count_if(summary_->trials, [](const Trial& trial) { return trial.failure() != nullptr; });
    const auto in_finals = std::ranges::count_if(summary_->ranking.rows, [](const Ranked& row) {
      return row.failed_in_finals != nullptr && row.same_as == nullptr;
    });
    text += " of " + tried(*summary_);
    if (failed > 0) text += fmt::format(", {} of which failed", failed);
    return text + (in_finals > 0 ? fmt::format(", {} of which failed in the finals", in_finals) : "");
  }

  std::string compared_text(const Verdict& verdict) const {
    const ComparedSpec& row = *verdict.compared;
    if (row.same_code) return "new and old are the same code";
    if (!row.ratio && row.change == Change::unknown)
      return "the objective of the earlier result is not known: " +
             line_with_escapes(outcome_->comparison->why_recorded);
    if (!row.ratio) return "the earlier result cannot be compared with: " + std::string(to_text(row.change));
    const std::string then = row.paired ? "old" : "recorded";
    std::string ratio = by_time_ ? fmt::format("new/{} = {:.3f}", then, *row.ratio)
                                 : fmt::format("new is {:.3f} times as bad as {}", *row.ratio, then);
    if (!row.interval)
      ratio += ", its noise is not known";
    else if (is_vague_ratio(*row.interval))
      ratio = (by_time_ ? "new/" + then : "how good new is beside " + then) + " is not known";
    else
      ratio += " (" + report::interval_text(*row.interval) + ")";
    const std::string worse = by_time_ ? "slower" : "worse";
    const Answer answer = is_slower(*outcome_->comparison);
    return fmt::format("{}, allowed {:.4g}{}", ratio, 1 + verdict.threshold,
                       answer == Answer::yes    ? ": " + worse
                       : answer == Answer::open ? ": " + worse + " or not is open"
                                                : "");
  }

  /// `1.31 times as fast as vendor`, or `1.31..590 times` where disturbances hide one of the times, and whether that is
  /// open.
  std::string ratio_text(const RankedBaseline& baseline) const {
    const std::string name = line_with_escapes(baseline.entrant.name);
    const std::optional<Interval> winner = winner_->time().interval, other = baseline.finals_result->time.interval;
    std::string ratio = times_text(baseline.finals_result->ratio);
    if (winner && other && (is_vague(*winner) || is_vague(*other))) {
      const Interval interval = {other->low / winner->high, other->high / winner->low};
      if (is_vague_ratio(interval)) return "how fast it is beside " + name + " is not known";
      ratio = times_text(interval.low) + ".." + times_text(interval.high);
    }
    const auto is_default = [&](const Ranked* row) {
      return name == "default" && row->trial->spec.mesh_idx == baseline.entrant.spec.mesh_idx;
    };
    const bool is_open = by_time_ && std::ranges::any_of(open_rows(), is_default);
    return fmt::format("{} times as fast as {}{}", ratio, name, is_open ? " (not sure)" : "");
  }

  /// `1.31 times as fast as default, 1.04 times as fast as vendor; 14 rounds of finals`
  std::string ratios_text() const {
    std::vector<std::string> texts;
    const std::int64_t winner = winner_->trial->spec.mesh_idx;
    const bool is_default = outcome_->default_spec && outcome_->default_spec->mesh_idx == winner;
    const auto is_itself = [&](const Entrant& other) {
      return is_default && other.kind == Entrant::Kind::baseline && other.spec.mesh_idx == winner;
    };
    if (is_default) texts.emplace_back("it is the default");
    for (const RankedBaseline& baseline : summary_->ranking.baselines)
      if (baseline.finals_result && !is_itself(baseline.entrant)) texts.push_back(ratio_text(baseline));
    std::string text = fmt::format("{}", fmt::join(texts, ", "));
    if (winner_->finals_result && winner_->finals_result->rounds > 0)
      text += (text.empty() ? "" : "; ") + plural(winner_->finals_result->rounds, "round") + " of finals";
    return text;
  }

  std::string open_text() const {
    const std::vector<const Ranked*> rows = open_rows();
    if (rows.empty() || !outcome_->finals.held) return "";
    std::vector<std::string> texts;
    for (const Ranked* row : rows) {
      if (texts.size() == kNamed) break;
      const auto& loss = row->finals_result->loss;
      texts.push_back(name_of(row->trial->spec) + (loss && *loss <= kVeryMuch ? ", at most " + percent(*loss) : ""));
    }
    if (rows.size() > kNamed) texts.push_back(fmt::format("{} more", rows.size() - kNamed));
    return fmt::format("not told apart: {}", fmt::join(texts, "; "));
  }

  std::string cause() const {
    if (!by_time_ && width_ && *width_ <= kWide) return "";  // whatever became of the times
    if (winner_->finals_result)
      if (const auto found = winner_->finals_result->metrics.find("throttle");
          found != winner_->finals_result->metrics.end())
        if (std::string text = throttle_text(found->second); !text.empty()) return text;
    const auto& finals = outcome_->finals.held;
    std::vector<std::string> causes;
    if (finals && finals->others_running.value_or(0) >= kBusy)
      causes.push_back(fmt::format("on average {:.1f} threads of other programs ran on {} cores",
                                   *finals->others_running, finals->cores));
    if (finals && finals->cores > 0 && finals->stolen_cores >= kStolen * finals->cores)
      causes.push_back(fmt::format("the host of this virtual machine took {} of its {} cores",
                                   percent(finals->stolen_cores / finals->cores), finals->cores));
    return fmt::format("{}", fmt::join(causes, ", and "));
  }

  std::string noise_text() const {
    std::string text = cause();
    if (text.empty())
      text = by_time_ && !winner_->time().interval ? "not known"
             : width_.value_or(INFINITY) > kWide   ? "high, and its cause is not known"
                                                   : "low";
    const auto& [all, left_out] = outcome_->finals.disturbed;
    if (all == left_out) return "noise: " + text;
    const std::string specs = plural(all - left_out, "spec");
    return fmt::format("noise: {}; {} {} disturbed in the sweep and timed again in the finals", text, specs,
                       all - left_out == 1 ? "was" : "were");
  }

  /// The start of a process hides how short runs differ.
  std::string short_runs_text() const {
    if (!by_time_ || seconds_ >= kShortRun || loss_ == 0.0) return "";
    if (!is_of_whole_command(*winner_->timed().measurement())) return "";
    return fmt::format("the best run takes {:.2g} ms, and the start of a process is a large part of that",
                       seconds_ * 1e3);
  }

  /// Whether no more rounds can tell the two results apart, because only the new one was timed now.
  bool compares_recorded_times() const {
    return outcome_->comparison && is_slower(*outcome_->comparison) == Answer::open &&
           !best_of(*outcome_->comparison).paired;
  }

  std::string same_command(const std::string& option) const {
    const auto has = [&](const std::string& word) {
      return std::ranges::find(summary_->command, word) != summary_->command.end();
    };
    return has(option) ? "the same command" : "the same command with " + option + (has("--") ? " before its --" : "");
  }

  std::string next_text() const {
    if (!short_runs_text().empty()) return "give the command more to do, or let it report its own time";
    if (outcome_->finals.interrupted) return "the same command holds the finals anew, and repeats nothing else";
    if (outcome_->ended_early) return "the same command goes on from here";
    if (outcome_->comparison && !by_time_ && !best_of(*outcome_->comparison).interval)
      return best_of(*outcome_->comparison).ratio
                 ? "one run of both specs compares them in turns"
                 : same_command("--fresh") + " times both again; if that fails, tune the old source again";
    if (compares_recorded_times()) {
      if (outcome_->comparison->why_recorded.empty()) return "";  // the comparison says it
      return same_command("--fresh") + " times both again; if that fails, tune the old source on this machine again";
    }
    if (has_tried_one_in_time())
      return same_command("a longer --time-budget") +
             fmt::format(" tries others; this spec took {:.3g} s", summary_->trials.front().seconds);
    if (!outcome_->finals.held && outcome_->finals.limits.needed > 0) return longer_finals();
    if (!summary_->objectives.empty()) return "the same command with one objective decides";
    if (!outcome_->finals.held || !by_rounds_) return "";
    if (outcome_->finals.disturbed.left_out > 0 || outcome_->finals.overlooked)
      return same_command("--fresh") + ", on a quieter machine";
    if (winner_->finals_result && winner_->finals_result->rounds >= SequentialIntervals::looks().back())
      return cause().empty() ? "take any of them, or allow more with --accuracy"
                             : "more rounds do not help; when the noise is over, " + same_command("--fresh");
    return (cause().empty() ? "" : "when the noise is over, ") + longer_finals();
  }

  static double in_tens(double seconds) { return std::max(kLeastAdvised, std::ceil(seconds / 10) * 10); }

  /// The command whose finals last at least twice as long as these, and long enough for the rounds that it takes.
  std::string longer_finals() const {
    const auto& finals = outcome_->finals.held;
    const int rounds = winner_->finals_result ? winner_->finals_result->rounds : 0;
    const results::FinalsLimits& limits = outcome_->finals.limits;
    double seconds = kMargin * limits.needed;
    if (finals) {
      const double taken = finals->seconds > 0 ? finals->seconds : kUnknownFinals;
      seconds = 2 * taken;
      if (!loss_ && rounds > 0) seconds = std::max(seconds, kMargin * taken / rounds * fewest_rounds());
    }
    seconds = in_tens(seconds);
    const std::string budget = fmt::format("--finals-budget {:.0f}s", seconds);
    const double room = finals && finals->room ? *finals->room : 0;
    if (!limits.time_budget || seconds <= room) return same_command(budget) + " holds longer finals";
    // What is left to try would take what a longer run has more, but for the share of the finals.
    const bool tried_all = summary_->specs == std::to_string(summary_->trials.size());
    const double with_sweep = *limits.time_budget - room + seconds;
    const double run = in_tens(tried_all ? with_sweep : std::max(with_sweep, seconds / kFinalsShare));
    const bool needs_budget = seconds > limits.budget.value_or(rounds < kFirstRounds ? kFirstRoundsSeconds : 0);
    return fmt::format("{} holds longer finals: --time-budget {:.4g}s leaves these no more time",
                       same_command(fmt::format("--time-budget {:.0f}s{}", run, needs_budget ? " " + budget : "")),
                       *limits.time_budget);
  }

  std::vector<std::string> lines(const Verdict& verdict) const {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& text) {
      if (!text.empty()) lines.push_back((lines.empty() ? "" : "  ") + text);
    };
    const std::string head = head_of(verdict, *summary_);
    if (verdict.compared) {
      add(head + compared_text(verdict));
      const std::string& why = outcome_->comparison->why_recorded;
      add("old: " + line_with_escapes(outcome_->comparison->before.file) + ", " + old_winner(*verdict.compared) +
          (why.empty() || !verdict.compared->ratio
               ? ""
               : (by_time_ ? ", by its recorded time, because " : ", by its recorded value, because ") +
                     line_with_escapes(why)));
      add("new: " + winner_text());
    } else {
      add(head + winner_text());
    }
    add(ratios_text());
    add(open_text());
    add(noise_text());
    if (!short_runs_text().empty()) add(short_runs_text());
    if (verdict.decision == Decision::undecided)
      if (const std::string next = next_text(); !next.empty()) add("next: " + next);
    return lines;
  }

  const report::Summary* summary_;
  const TuningOutcome* outcome_;
  const Demands* demands_;
  const Ranked* winner_;
  std::vector<double> costs_;  ///< of the winner; empty: it is ranked by its time
  bool by_time_;
  bool by_rounds_;  ///< the rounds of the finals compared what the objective follows from
  double accuracy_;
  double seconds_ = 0;
  std::optional<double> time_width_;  ///< half the interval of the winner's time, over it
  std::optional<double> width_;       ///< that of what it is ranked by
  std::optional<double> loss_;
};

Verdict verdict_without_winner(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands) {
  Verdict verdict;
  verdict.accuracy = demands.accuracy.value_or(kAccuracy);
  verdict.asked = demands.accuracy || demands.noise || outcome.comparison;
  const bool may_work = outcome.ended_early || std::ranges::any_of(summary.trials, may_work_again);
  const std::string works = summary.unranked.empty() ? "works" : "has a value of the objective";
  const std::string none = summary.trials.size() == 1 ? "the only spec that was tried does not work"
                                                      : fmt::format("none of {} {}", tried(summary), works);
  verdict.why = !outcome.finals.no_winner.empty() ? "there is no winner: " + outcome.finals.no_winner
                : summary.trials.empty()          ? "no spec was tried"
                : outcome.ended_early             ? "no spec has worked yet: the run ended early"
                                                  : none + (may_work ? ", and the machine may be to blame" : "");
  if (outcome.finals.no_winner.empty() && !summary.trials.empty() && !may_work) verdict.decision = Decision::fail;
  verdict.lines = {head_of(verdict, summary) + verdict.why};
  if (!outcome.finals.no_winner.empty()) verdict.lines.emplace_back("  next: the same command holds the finals again");
  return verdict;
}

}  // namespace

Verdict verdict_of(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands) {
  if (summary.ranking.rows.empty() || !summary.winner) return verdict_without_winner(summary, outcome, demands);
  return WinnerVerdict(summary, outcome, demands).verdict();
}

}  // namespace tune::results

#include "results/verdict/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "report/shown_text.h"
#include "results/verdict/advice.h"
#include "results/verdict/standing.h"

namespace tune::results {
namespace {

constexpr std::size_t kNamed = 4;

std::string times_text(double ratio) {
  if (ratio < 1) return fmt::format("{:.3g}", ratio);
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

/// `DECIDED: `, and which of several tunings it is of.
std::string head_of(const Verdict& verdict, const report::Summary& summary) {
  return fmt::format("{}: {}", to_text(verdict.decision),
                     summary.label.empty() ? "" : line_with_escapes(summary.label) + ": ");
}

/// `3 specs`, or `the 3 of 1152 specs that were tried`
std::string tried(const report::Summary& summary) {
  return summary.tried_all()
             ? plural(summary.trials.size(), "spec")
             : fmt::format("the {} of {} specs that were tried", summary.trials.size(), summary.specs->text());
}

/// The lines of a verdict on a winner.
class VerdictText {
 public:
  VerdictText(const Standing& standing, const Verdict& verdict)
      : standing_(standing),
        verdict_(verdict),
        summary_(standing.summary),
        outcome_(standing.outcome),
        winner_(standing.winner) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& text) {
      if (!text.empty()) lines.push_back((lines.empty() ? "" : "  ") + text);
    };
    const std::string head = head_of(verdict_, *summary_);
    if (verdict_.compared) {
      add(head + compared_text());
      const std::string& why = outcome_->comparison->why_recorded;
      add("old: " + line_with_escapes(outcome_->comparison->before.file) + old_winner(*verdict_.compared) +
          (why.empty() || !verdict_.compared->ratio
               ? ""
               : (standing_.by_time ? ", by its recorded time, because " : ", by its recorded value, because ") +
                     line_with_escapes(why)));
      add("new: " + winner_text());
      if (compares_records())
        add("nothing was measured now: both are recorded; the same command with --fresh measures the new one again");
    } else {
      add(head + winner_text());
    }
    add(ratios_text());
    add(open_text());
    add(noise_text());
    if (standing_.has_short_runs())
      add(fmt::format("the best run takes {:.2g} ms, and the start of a process is a large part of that",
                      standing_.seconds * 1e3));
    if (verdict_.decision == Decision::undecided)
      if (const std::string next = advice(standing_); !next.empty()) add("next: " + next);
    return lines;
  }

 private:
  std::string name_of(const Spec& spec) const {
    const std::string settings = report::settings_text(spec, summary_->varying);
    return settings.empty() ? fmt::format("spec {}", spec.mesh_idx)
                            : fmt::format("{} (spec {})", line_with_escapes(settings), spec.mesh_idx);
  }

  /// `, BM=64`: the winner of the earlier run, without its number, which is that of another grid.
  std::string old_winner(const ComparedSpec& compared) const {
    if (outcome_->comparison->with_spec) return "";
    const std::string settings = report::settings_text(compared.old_spec, summary_->varying);
    return ", " + (settings.empty() ? "its winner" : line_with_escapes(settings));
  }

  bool compares_records() const {
    const HeldFinals* held = outcome_->finals.held();
    return !verdict_.compared->paired && std::ranges::all_of(summary_->trials, &Trial::recorded) &&
           (held == nullptr || held->date);
  }

  bool works_alone() const {
    return std::ranges::all_of(summary_->trials, [&](const Trial& trial) {
      return trial.failure() != nullptr || trial.spec.mesh_idx == winner_->trial->spec.mesh_idx;
    });
  }

  /// `2.789 ms +-0.4 %`, or `size 165288, 2.789 ms`, or `score 7.2 +-1 %, 2.789 ms`
  std::string values_text() const {
    const std::string width = standing_.width && *standing_.width > 0 ? " +-" + percent(*standing_.width) : "";
    std::string text;
    for (const auto& [name, value] : summary_->figures)
      text += fmt::format("{} {}{}, ", line_with_escapes(name), report::whole_or_four_digits(value),
                          name == summary_->ranked_by ? width : "");
    text += report::four_digits(standing_.seconds * 1e3) + " ms";
    if (!standing_.by_time) return text;
    if (standing_.width) return text + " +-" + percent(*standing_.width);
    return text + (winner_->time().interval ? " (how precisely is not known)" : "");
  }

  /// `BM=64 (spec 17), 2.789 ms +-0.4 %, at most 0.6 % slower than the best of 1152 specs`
  std::string winner_text() const {
    std::string text = name_of(winner_->trial->spec) + ", " + values_text();
    if (const std::string why = standing_.why_open(); !why.empty()) return text + "; " + why;
    if (!standing_.knows_its_time())
      return text + fmt::format("; its time was to be known to +-{}", percent(*standing_.demands->noise));
    if (summary_->trials.size() == 1) return text + ", the only spec that was tried";
    if (works_alone()) return text + fmt::format(", and all others of {} failed", tried(*summary_));
    const std::string best = standing_.by_time ? "fastest" : "best", than = standing_.by_time ? "slower" : "worse";
    text += *standing_.loss == 0 ? ", the " + best
                                 : fmt::format(", at most {} {} than the best", percent_at_most(*standing_.loss), than);
    const auto failed =
        std::ranges::count_if(summary_->trials, [](const Trial& trial) { return trial.failure() != nullptr; });
    const auto in_finals = std::ranges::count_if(summary_->ranking.rows, [](const Ranked& row) {
      return row.failed_in_finals != nullptr && row.same_as == nullptr;
    });
    text += " of " + tried(*summary_);
    if (failed > 0) text += fmt::format(", {} of which failed", failed);
    return text + (in_finals > 0 ? fmt::format(", {} of which failed in the finals", in_finals) : "");
  }

  std::string compared_text() const {
    const ComparedSpec& row = *verdict_.compared;
    if (row.same_code) {
      // As a file that was edited has.
      const std::vector<Setting> others = without(row.old_spec.params, row.entrant.spec.params);
      return "new and old are the same code" +
             (others.empty() ? "" : fmt::format(", though the old file says {}", line_with_escapes(to_text(others))));
    }
    if (!row.ratio && row.change == Change::unknown)
      return (standing_.by_time ? "the old time is not known: "
                                : "the objective of the earlier result is not known: ") +
             line_with_escapes(outcome_->comparison->why_recorded);
    if (!row.ratio) return "the earlier result cannot be compared with: " + std::string(to_text(row.change));
    const std::string then = row.paired ? "old" : "recorded";
    std::string ratio = standing_.by_time ? fmt::format("new/{} = {:.3f}", then, *row.ratio)
                                          : fmt::format("new is {:.3f} times as bad as {}", *row.ratio, then);
    if (!row.interval)
      ratio += ", its noise is not known";
    else if (is_vague_ratio(*row.interval))
      ratio = (standing_.by_time ? "new/" + then : "how good new is beside " + then) + " is not known";
    else
      ratio += " (" + report::interval_text(*row.interval) + ")";
    const std::string worse = standing_.by_time ? "slower" : "worse";
    const Answer answer = is_slower(*outcome_->comparison);
    return fmt::format("{}, allowed {:.4g}{}", ratio, 1 + verdict_.threshold,
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
    const bool is_open = standing_.by_time && std::ranges::any_of(standing_.open_rows(), is_default);
    return fmt::format("{} times as fast as {}{}", ratio, name, is_open ? " (not sure)" : "");
  }

  /// Whether it is the old one, whose ratio stands in the first line.
  bool is_compared(const Entrant& entrant) const {
    return verdict_.compared && verdict_.compared->paired && entrant.kind == Entrant::Kind::baseline &&
           entrant.name == outcome_->comparison->label;
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
      if (baseline.finals_result && !is_itself(baseline.entrant) && !is_compared(baseline.entrant))
        texts.push_back(ratio_text(baseline));
    std::string text = fmt::format("{}", fmt::join(texts, ", "));
    if (winner_->finals_result && winner_->finals_result->rounds > 0)
      text += (text.empty() ? "" : "; ") + plural(winner_->finals_result->rounds, "round") + " of finals";
    return text;
  }

  std::string open_text() const {
    const std::vector<const Ranked*> rows = standing_.open_rows();
    if (rows.empty() || outcome_->finals.held() == nullptr) return "";
    std::vector<std::string> texts;
    for (const Ranked* row : rows) {
      if (texts.size() == kNamed) break;
      const auto& loss = row->finals_result->loss;
      texts.push_back(name_of(row->trial->spec) +
                      (loss && *loss <= kVeryMuch ? ", by at most " + percent_at_most(*loss) : ""));
    }
    if (rows.size() > kNamed) texts.push_back(fmt::format("{} more", rows.size() - kNamed));
    return fmt::format("may be {}: {}", standing_.by_time ? "faster" : "better", fmt::join(texts, "; "));
  }

  std::string noise_text() const {
    std::string text = standing_.noise_cause();
    if (text.empty())
      text = standing_.is_about_times() && !winner_->time().interval ? "not known"
             : standing_.noise_width().value_or(INFINITY) > kWide    ? "high, and its cause is not known"
                                                                     : "low";
    const HeldFinals* held = outcome_->finals.held();
    const auto [all, left_out] = held != nullptr ? held->disturbed : DisturbedSpecs();
    if (all == left_out) return "noise: " + text;
    const std::string specs = plural(all - left_out, "spec");
    return fmt::format("noise: {}; {} {} disturbed in the sweep and timed again in the finals", text, specs,
                       all - left_out == 1 ? "was" : "were");
  }

  const Standing& standing_;
  const Verdict& verdict_;
  const report::Summary* summary_;
  const TuningOutcome* outcome_;
  const Ranked* winner_;
};

/// Those whose results are wrong are chosen for the next finals, too, and none that was stopped early ever is.
std::string advice_without_winner(const report::Summary& summary, const Finals& finals) {
  const auto is_wrong = [](const Finalist& finalist) {
    return !finalist.entrant.is_spec() || finalist.failure->is_wrong_result();
  };
  if (!std::ranges::all_of(finals.finalists, is_wrong)) return "the same command holds the finals again";
  const auto is_other = [](const Ranked& row) {
    return row.failed_in_finals == nullptr && row.same_as == nullptr && !row.trial->measurement()->timing.stopped_early;
  };
  const auto others = std::ranges::count_if(summary.ranking.rows, is_other);
  if (others == 0) return "find out why the results are wrong in the finals; no other spec was timed in full";
  const auto count = std::ranges::count_if(finals.finalists, &Entrant::is_spec, &Finalist::entrant);
  return fmt::format("the same command with --finalists {} has the next specs in the finals, too",
                     count + std::min(count, others));
}

std::string why_no_winner(const Finals& finals) {
  const auto spec = std::ranges::find_if(finals.finalists, &Entrant::is_spec, &Finalist::entrant);
  return "there is no winner: all specs failed in the finals, though the sweep could time them: " +
         spec->failure->headline();
}

Verdict verdict_without_winner(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands) {
  Verdict verdict;
  verdict.accuracy = demands.accuracy.value_or(kAccuracy);
  verdict.asked = demands.accuracy || demands.noise || outcome.comparison;
  const bool may_work = outcome.ended_early || std::ranges::any_of(summary.trials, &Trial::may_work_again);
  const std::string works = summary.unranked.empty() ? "works" : "has a value of the objective";
  const std::string none = summary.trials.size() == 1 ? "the only spec that was tried does not work"
                                                      : fmt::format("none of {} {}", tried(summary), works);
  verdict.why = !outcome.finals.has_winner() ? why_no_winner(*outcome.finals.held())
                : summary.trials.empty()     ? "no spec was tried"
                : outcome.ended_early        ? "no spec has worked yet: the run ended early"
                                             : none + (may_work ? ", and the machine may be to blame" : "");
  const bool may_win = may_work || !summary.ranking.rows.empty();
  if (!summary.trials.empty() && !may_win) verdict.decision = Decision::fail;
  verdict.lines = {head_of(verdict, summary) + verdict.why};
  if (!outcome.finals.has_winner() && may_win)
    verdict.lines.push_back("  next: " + advice_without_winner(summary, *outcome.finals.held()));
  return verdict;
}

}  // namespace

Verdict verdict_of(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands) {
  if (summary.ranking.rows.empty() || !summary.winner) return verdict_without_winner(summary, outcome, demands);
  const Standing standing(summary, outcome, demands);
  Verdict verdict;
  verdict.decision = standing.decision();
  verdict.why = standing.why_open();
  verdict.loss = standing.loss;
  verdict.accuracy = standing.accuracy;
  for (const Ranked* row : standing.open_rows()) verdict.open.push_back(row->trial->spec.mesh_idx);
  if (outcome.comparison) {
    verdict.compared = best_of(*outcome.comparison);
    verdict.threshold = outcome.comparison->threshold;
  }
  verdict.asked = demands.accuracy || demands.noise || verdict.compared;
  verdict.lines = VerdictText(standing, verdict).lines();
  return verdict;
}

}  // namespace tune::results

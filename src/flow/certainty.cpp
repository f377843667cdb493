#include "flow/certainty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tune::flow {
namespace {

constexpr double kWide = 0.02;
constexpr double kShortRun = 0.005;
constexpr double kBusy = 0.5;  // threads of others, from which on they are a cause
constexpr std::size_t kNamed = 5;

std::string percent(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", share * 100) : fmt::format("{:.2g} %", share * 100);
}

std::string throttle_text(double flags) {
  const auto bits = static_cast<int>(flags);
  if ((bits & (32 | 64)) != 0) return "heat slowed the device down";
  if ((bits & (8 | 128)) != 0) return "the hardware slowed the device down";
  return (bits & 4) != 0 ? "the device was at its power cap" : "";
}

std::string list_text(const std::vector<std::int64_t>& specs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(specs.size(), kNamed); ++i) {
    const bool last = i > 0 && i + 1 == specs.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", specs[i]);
  }
  return specs.size() > kNamed ? fmt::format("{} and {} more", text, specs.size() - kNamed) : text;
}

// Every contender has lost against the winner: then it is the fastest, however short its runs are.
bool is_beyond_doubt(const Ranking& ranking) {
  return ranking.rows.front().standing &&
         std::all_of(ranking.rows.begin() + 1, ranking.rows.end(),
                     [](const Ranked& row) { return !row.standing || row.standing->verdict == Verdict::lost; });
}

}  // namespace

Certainty::Certainty(const Ranking& ranking, const Finals* finals, bool finals_interrupted)
    : finals_(finals), interrupted_(finals_interrupted) {
  const Ranked& first = ranking.rows.front();
  const Timing& timing = first.timed().measurement()->timing;
  if (first.standing) {
    const Standing& standing = *first.standing;
    rounds_ = standing.rounds;
    if (const auto found = standing.metrics.find("throttle"); found != standing.metrics.end())
      throttle_ = found->second;
  }
  const double seconds = first.standing ? first.standing->median_seconds : timing.median;
  const auto interval = first.standing ? first.standing->seconds_interval : known_interval(timing);
  if (interval) width_ = relative_width(*interval, seconds);
  if (is_of_whole_command(*first.timed().measurement()) && seconds < kShortRun && !is_beyond_doubt(ranking))
    short_seconds_ = seconds;
  for (const Ranked& row : ranking.rows) {
    if (!row.standing || row.same_as != nullptr || row.standing->verdict != Verdict::open) continue;
    open_.push_back(row.trial->spec.mesh_idx);
    const auto& ratio = row.standing->ratio_interval;
    gap_known_ = gap_known_ && ratio.has_value();
    if (ratio) gap_ = std::max({gap_, 1 - ratio->low, ratio->high - 1});
  }
}

std::optional<double> Certainty::uncertainty() const {
  return width_ && gap_known_ ? std::optional(std::max(*width_, gap_)) : std::nullopt;
}

std::string Certainty::open_text() const {
  const bool all = rounds_ >= SequentialIntervals::looks().back();
  return fmt::format(
      "the finals could not tell {} from the best in {} round{}: {}, and the lowest time was taken; {}",
      list_text(open_), rounds_, rounds_ == 1 ? "" : "s",
      gap_known_ ? fmt::format("they may be up to {} faster or slower", percent(gap_)) : "that is too few",
      interrupted_ ? "the same command holds them again"
      : all        ? "make the machine quieter, or take any of them"
                   : "a longer --finals-budget or --time-budget allows more");
}

std::string Certainty::cause() const {
  if (const std::string throttled = throttle_text(throttle_); !throttled.empty()) return throttled;
  if (finals_ != nullptr && finals_->others_running.value_or(0) >= kBusy)
    return fmt::format("on average {:.1f} threads of other programs ran on the {} cores", *finals_->others_running,
                       finals_->cores);
  return "";
}

std::string Certainty::short_runs_text() const {
  return fmt::format(
      "the best run takes {:.2g} ms: below {:.0f} ms, the start of a process is a large part of that, and may hide how "
      "specs differ; give the command more to do, or let it report its own time",
      short_seconds_ * 1e3, kShortRun * 1e3);
}

std::vector<std::string> Certainty::warnings() const {
  std::vector<std::string> texts;
  if (short_seconds_ > 0) texts.push_back(short_runs_text());
  if (!open_.empty()) texts.push_back(open_text());
  if (width_.value_or(0) > kWide) {
    const std::string why = cause();
    texts.push_back(
        fmt::format("noise: the time of the best is known to +-{} only{}; {}, or let --noise 2% make this an error",
                    percent(*width_), why.empty() ? "" : ", while " + why,
                    why.empty() ? "look for what disturbs the device" : "remove the cause and run again"));
  }
  return texts;
}

std::optional<std::string> Certainty::too_uncertain(double limit) const {
  const auto known = uncertainty();
  if (known && *known <= limit) return std::nullopt;
  const std::string asked = fmt::format("--noise {:.6g}%", limit * 100);
  if (!known)
    return asked + ": the uncertainty of the best is unknown, because there were too few rounds of finals, or none";
  const std::string why = cause();
  return fmt::format("{}: the best is uncertain by {}{}; the files are written", asked, percent(*known),
                     why.empty() ? "" : ", while " + why);
}

}  // namespace tune::flow

#include "model/trial.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "model/values/text.h"

namespace tune {
namespace {

std::string kind_of_build(const std::string& headline) {
  const std::size_t error = headline.find("rror:");
  std::string kind = headline.substr(0, error == headline.npos ? 0 : error);
  for (std::size_t i = kind.size(); i < headline.size();) {
    std::size_t end = i;
    while (end < headline.size() && is_of_identifier(headline[end])) ++end;
    const bool number = end > i && headline[i] >= '0' && headline[i] <= '9';
    end = std::max(end, i + 1);
    kind += number ? "#" : headline.substr(i, end - i);
    i = end;
  }
  return kind;
}

}  // namespace

FailureFacts facts_of_end(int exit_code, int signal) {
  constexpr int kCannotExecute = 126, kNotFound = 127;
  const bool suspected = signal == SIGKILL || exit_code == kCannotExecute || exit_code == kNotFound;
  return {exit_code, signal, 0, suspected};
}

Failure::Failure(Stage at, Cause why, std::string text, std::string output, FailureFacts known)
    : stage(at),
      cause(why),
      message(std::move(text)),
      log(std::move(output)),
      facts(known),
      kind(stage == Stage::build ? kind_of_build(headline()) : headline()) {}

void Failure::add_to_headline(std::string_view text) {
  message.insert(headline().size(), text);
  kind += text;
}

bool alike(const Failure& a, const Failure& b) {
  return a.stage == b.stage && a.cause == b.cause && a.facts == b.facts;
}

bool is_of_whole_command(const Measurement& measurement) {
  return measurement.metrics.contains(kUserTime) && measurement.metrics.contains(kPeakMemory);
}

std::string to_text(const TimeRule& rule) {
  return std::string(kStatistics[static_cast<std::size_t>(rule.statistic)]) +
         (rule.without_outliers ? " without outliers" : "");
}

std::optional<TimeRule> time_rule_named(std::string_view text) {
  for (const Statistic statistic : {Statistic::median, Statistic::mean, Statistic::min})
    for (const bool without_outliers : {false, true})
      if (const TimeRule rule{statistic, without_outliers}; to_text(rule) == text) return rule;
  return std::nullopt;
}

// All outliers are slow, so the least time is never one.
void choose_time(Timing& timing, const TimeRule& rule) {
  const auto of = [&](double all, double kept) { return rule.without_outliers && kept > 0 ? kept : all; };
  if (rule.statistic == Statistic::min) timing.chosen = timing.min;
  if (rule.statistic == Statistic::mean) timing.chosen = of(timing.mean, timing.kept_mean);
  if (rule.statistic == Statistic::median) timing.chosen = of(timing.median, timing.kept_median);
}

void scale_times(Measurement& measurement, double factor) {
  Timing& timing = measurement.timing;
  for (double* time : {&timing.median, &timing.min, &timing.mean, &timing.p95, &timing.ci_low, &timing.ci_high,
                       &timing.kept_mean, &timing.kept_median, &measurement.clean_seconds})
    *time *= factor;
  measurement.scaled *= factor;
}

const Trial* find_trial(std::span<const Trial> trials, std::int64_t mesh_idx) {
  const auto found = std::ranges::find(trials, mesh_idx, [](const Trial& trial) { return trial.spec.mesh_idx; });
  return found == trials.end() ? nullptr : &*found;
}

}  // namespace tune

#include "commands/tune/compared_baseline.h"

#include <fmt/format.h>
#include <unistd.h>

#include "commands/database/database_runs.h"
#include "commands/print_messages.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/recorded/comparison_text.h"
#include "tuning/stored_baseline.h"

namespace tune::commands {

ComparedBaseline::ComparedBaseline(std::string spec, std::optional<double> threshold, const Target& target)
    : target_(&target), label_(std::move(spec)) {
  rules_.threshold = threshold.value_or(rules_.threshold);
}

ComparedBaseline::ComparedBaseline(const std::filesystem::path& file, std::optional<double> threshold,
                                   const Target& target, const Device& device)
    : target_(&target), before_(read_times(file)), label_(tuning::label_of_named(target.plan(), file)) {
  rules_.threshold = threshold.value_or(rules_.threshold);
  results::require_comparable(before_, results::recorded_times_of(target.plan(), device, {}), rules_);
  if (!target.objective.by_time()) cost_ = results::recorded_cost(file, target.objective);
  is_built_ = tuning::names_artifact(file);
  if (!target.objective.by_time() && !cost_ && !is_built_)
    throw Error(ExitCode::bad_input,
                fmt::format("--baseline {0}: it has no {1}, which is the objective; give the best.yaml of a run with "
                            "--objective {1}, or compare the times: --objective time",
                            file.string(), target.objective.name()));
  std::filesystem::path best = file;
  if (!is_built_ && tuning::names_artifact(best.replace_extension("yaml")))
    before_.notes.push_back(
        fmt::format("of {} only the recorded times are compared; --baseline {} times its winner again, in turns with "
                    "the new one",
                    file.string(), best.string()));
}

std::optional<RunComparison> ComparedBaseline::compare(const Device& device,
                                                       const results::TuningOutcome& outcome) const {
  const results::RecordedTimes now = results::recorded_times_of(target_->plan(), device, outcome);
  if (!now.problems.front().best) return std::nullopt;
  if (before_.problems.empty()) return results::compare_with_contender(now, outcome, label_, rules_);
  RunComparison comparison = results::compare_with_earlier(before_, now, outcome, label_, rules_);
  if (target_->objective.by_time() || best_of(comparison).paired) return comparison;
  if (comparison.why_recorded.empty())
    comparison.why_recorded = outcome.finals.held() == nullptr ? "no finals were held"
                              : is_built_                      ? "it took no part in the finals"
                                                               : "what is not built cannot be timed again";
  results::compare_costs(cost_, target_->objective, outcome, comparison);
  return comparison;
}

void print_comparison(const RunComparison& comparison) {
  if (best_of(comparison).paired || comparison.with_spec) return;
  platform::print(report::comparison_text(comparison, 0, platform::terminal_columns(STDOUT_FILENO)));
}

}  // namespace tune::commands

#include "commands/earlier_result.h"

#include <unistd.h>

#include "base/streams.h"
#include "base/terminal.h"
#include "commands/on_stderr.h"
#include "flow/stored_baseline.h"
#include "report/comparison_text.h"

namespace tune::commands {
namespace {

constexpr std::size_t kComparedSpecs = 20;

}  // namespace

EarlierResult::EarlierResult(const Options& options, const Plan& plan, const Device& device)
    : before_(flow::read_run_times(*options.baseline)), label_(flow::label_of_named(plan, *options.baseline)) {
  rules_.threshold = options.threshold.value_or(rules_.threshold);
  flow::require_comparable(before_, flow::run_times_of(plan, device, {}), rules_);
  for (const std::string& note : before_.notes) print_wrapped("note: " + note);
}

std::optional<RunComparison> EarlierResult::compare(const Plan& plan, const Device& device,
                                                    const flow::Findings& findings) const {
  const flow::RunTimes now = flow::run_times_of(plan, device, findings);
  if (!now.problems.front().best) return std::nullopt;
  return flow::compare_with_earlier(before_, now, findings, label_, rules_);
}

void print_comparison(const RunComparison& comparison) {
  base::print(report::comparison_text(comparison, kComparedSpecs, base::terminal_columns(STDOUT_FILENO)));
}

}  // namespace tune::commands

#include <unistd.h>

#include "commands/commands.h"
#include "commands/messages.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "recording/comparison_json.h"
#include "recording/recording.h"
#include "report/comparison_text.h"
#include "results/comparison.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortList = 20;

void must_not_be_inputs(const DiffOptions& options) {
  for (const auto& output : {options.markdown, options.junit, options.json})
    for (const fs::path& input : {options.before, options.now}) {
      std::error_code ignored;
      if (output && fs::equivalent(*output, input, ignored))
        throw Error(ExitCode::bad_input, output->string() + ": the output is also an input");
    }
}

void write(const std::optional<fs::path>& path, const std::string& text) {
  if (!path) return;
  std::error_code ignored;
  if (path->has_parent_path()) fs::create_directories(path->parent_path(), ignored);
  platform::write_file(*path, text);
}

}  // namespace

ExitCode diff(DiffOptions options) {
  for (fs::path* run : {&options.before, &options.now}) *run = recording::run_file(*run);
  must_not_be_inputs(options);
  results::ComparisonRules rules;
  rules.threshold = options.threshold.value_or(rules.threshold);
  rules.any_device = options.any_device;
  const results::RecordedTimes before = results::read_recorded_times(options.before),
                               now = results::read_recorded_times(options.now);
  for (const results::RecordedTimes* run : {&before, &now})
    for (const std::string& note : run->notes) print_wrapped("note: " + note);
  const RunComparison comparison = results::compare(before, now, rules);
  const int width = platform::terminal_columns(STDOUT_FILENO);
  platform::print(report::comparison_text(comparison, options.top.value_or(kShortList), width));
  write(options.markdown, report::comparison_markdown(comparison, options.top.value_or(kShortList)));
  write(options.junit, report::comparison_junit(comparison));
  write(options.json, recording::to_json(comparison));
  const Answer answer = is_slower(comparison);
  return answer == Answer::yes ? ExitCode::check_failed : answer == Answer::open ? ExitCode::undecided : ExitCode::ok;
}

}  // namespace tune::commands

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/store.h"
#include "base/streams.h"
#include "commands/commands.h"
#include "commands/on_stderr.h"
#include "flow/database_runs.h"
#include "flow/live_page.h"
#include "flow/recorded_plan.h"
#include "flow/report_data.h"
#include "flow/user_folders.h"
#include "model/values/shown.h"
#include "report/page.h"

namespace tune::commands {
namespace {

/// That of the tuning file, or what the recording alone tells: a page needs no space.
Plan plan_of(const interop::Recording& recording, const ReportOptions& options) {
  if (!options.yamls.empty()) return flow::load_recorded_plan(recording, {recording.file, options.yamls, {}, {}}).plan;
  Plan plan;
  plan.name = recording.kernel.empty() ? std::filesystem::path(recording.file).stem().string() : recording.kernel;
  plan.backend = Backend::program;  // whatever it was: nothing is measured
  plan.objective = recording.objectives.front();
  return plan;
}

std::string data_of(const interop::Recording& recording, const ReportOptions& options) {
  const auto run = std::ranges::find(options.runs, std::filesystem::path(recording.file));
  const std::vector<std::string> names = base::distinct_names(options.runs);
  return flow::report_data(recording, plan_of(recording, options),
                           run == options.runs.end() ? recording.file : names[run - options.runs.begin()]);
}

/// All problems of a file.
std::vector<interop::Recording> read(const std::filesystem::path& run) {
  std::vector<interop::Recording> recordings = flow::read_runs(run);
  const interop::Recording& last = recordings.back();
  for (const std::string& text : last.damaged.texts(last.file)) print_wrapped("note: " + text);
  if (std::ranges::any_of(recordings, &interop::Recording::has_older_finals))
    print_wrapped("note: " + last.file + ": its finals are of an older version, and are left out");
  return recordings;
}

void must_not_be_input(const std::filesystem::path& output, const ReportOptions& options) {
  std::error_code ignored;
  for (const auto* inputs : {&options.runs, &options.yamls})
    for (const std::filesystem::path& input : *inputs)
      if (std::filesystem::equivalent(input, output, ignored))
        throw Error(ExitCode::bad_input,
                    output.string() + ": the output is also an input; give the page a name such as report.html");
}

report::PageRules page_rules(const std::filesystem::path& output, const std::vector<std::string>& data) {
  base::Hash hash;
  for (const std::string& run : data) hash.add(run);
  return {output.stem().string(), flow::utc_minute(), false, hash.hex()};
}

void write_page(const std::filesystem::path& output, const ReportOptions& options) {
  must_not_be_input(output, options);
  std::vector<std::string> data;
  for (const std::filesystem::path& run : options.runs)
    for (const interop::Recording& recording : read(run)) data.push_back(data_of(recording, options));
  std::error_code ignored;  // writing says why
  if (output.has_parent_path()) std::filesystem::create_directories(output.parent_path(), ignored);
  base::write_file(output, report::page(page_rules(output, data), data));
  base::print(shown_line(fmt::format("{}: {} run{}", output.string(), data.size(), data.size() == 1 ? "" : "s")) +
              "\n");
}

}  // namespace

ExitCode report(ReportOptions options) {
  for (std::filesystem::path& run : options.runs) run = interop::run_file(run);
  if (options.output) write_page(*options.output, options);
  if (!options.live) return ExitCode::ok;
  const auto data = [&](const interop::Recording& recording) { return data_of(recording, options); };
  flow::serve({options.runs.front().stem().string(), options.runs, data}, *options.live);
  return ExitCode::ok;
}

}  // namespace tune::commands

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/database_runs.h"
#include "commands/print_messages.h"
#include "commands/results/show.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "page/live_page.h"
#include "page/page.h"
#include "page/report_data.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "platform/store/store.h"
#include "results/recorded_plan.h"

namespace tune::commands {
namespace {

/// `tune report`: writes or serves a page that shows recorded runs in a browser.
struct ReportOptions {
  std::vector<std::filesystem::path> runs;      ///< recorded ones
  std::vector<std::filesystem::path> yamls;     ///< of their kernel
  std::optional<std::filesystem::path> output;  ///< set unless the page is live
  std::optional<platform::Address> live;
};

/// best.html for a/best.jsonl, and for a/best.json.gz.
std::string name_of_page(const std::filesystem::path& run) {
  std::filesystem::path name = run.filename();
  if (name.extension() == ".gz" || name.extension() == ".bz2") name.replace_extension();
  return name.stem().string() + ".html";
}

/// Whether there is a file that `tune report` has not written.
bool is_something_else(const std::filesystem::path& output) {
  std::error_code ignored;
  if (!std::filesystem::exists(output, ignored)) return false;
  return !std::filesystem::is_regular_file(output, ignored) ||
         platform::read_file(output).substr(0, 2000).find("name=\"generator\" content=\"tune report\"") ==
             std::string::npos;
}

void bind(cli::Command& command, ReportOptions& options) {
  command
      .several(
          "RUN", options.runs, "FILE",
          "PREFIX of a run's --output, or a journal, CSV file, best YAML, other recorded run or database (default: the "
          "last run)")
      .files(kRecordings);
  command.path("--output,-o", options.output, "FILE",
               "The HTML file to write (default: the first run's name with .html, in this folder)");
  bind_live(command, options.live, "Serve the page, which follows the runs, to this machine unless ADDRESS is given");
  command.list("--yaml", options.yamls, "FILE", "The tuning file of the runs, for its objective, metrics and problem")
      .files(kYamlFiles);
  command.then([&options] {
    if (options.runs.empty()) options.runs = {last_journal()};
    for (std::filesystem::path& run : options.runs) run = run_of_result(run);
    if (options.output || options.live) return;
    options.output = name_of_page(options.runs.front());
    if (is_something_else(*options.output))
      throw Error(ExitCode::bad_input, fmt::format("{} exists and is no page of tune report; name the page with -o",
                                                   options.output->string()));
  });
}

/// That of the tuning file, or what the recording alone tells: a page needs no space.
Plan plan_of(const recording::Recording& recording, const ReportOptions& options) {
  if (!options.yamls.empty())
    return results::load_recorded_plan(recording, {recording.file, options.yamls, {}, {}}).plan;
  Plan plan;
  plan.name = recording.kernel.empty() ? std::filesystem::path(recording.file).stem().string() : recording.kernel;
  plan.subject = ProgramPlan();  // whatever it was: nothing is measured
  plan.objective = recording.objectives.front();
  return plan;
}

std::string data_of(const recording::Recording& recording, const ReportOptions& options) {
  const auto run = std::ranges::find(options.runs, std::filesystem::path(recording.file));
  const std::vector<std::string> names = platform::distinct_names(options.runs);
  return page::report_data(recording, plan_of(recording, options),
                           run == options.runs.end() ? recording.file : names[run - options.runs.begin()]);
}

/// All problems of a file.
std::vector<recording::Recording> read(const std::filesystem::path& run) {
  std::vector<recording::Recording> recordings = read_runs(run);
  const recording::Recording& last = recordings.back();
  for (const std::string& text : last.damaged.texts(last.file)) print_wrapped("note: " + text);
  if (std::ranges::any_of(recordings, &recording::Recording::has_older_finals))
    print_wrapped("note: " + last.file + ": its finals are of an older version, and are left out");
  return recordings;
}

page::PageRules page_rules(const std::filesystem::path& output, const std::vector<std::string>& data) {
  platform::Hash hash;
  for (const std::string& run : data) hash.add(run);
  return {output.stem().string(), platform::utc_minute(), false, hash.hex()};
}

void write_page(const std::filesystem::path& output, const ReportOptions& options) {
  must_not_be_input(output, options.runs);
  must_not_be_input(output, options.yamls);
  std::vector<std::string> data;
  for (const std::filesystem::path& run : options.runs)
    for (const recording::Recording& recording : read(run)) data.push_back(data_of(recording, options));
  platform::write_file(output, page::html(page_rules(output, data), data));
  platform::print(line_with_escapes(fmt::format("{}: {}", output.string(), plural(data.size(), "run"))) + "\n");
}

ExitCode report(const ReportOptions& options) {
  if (options.output) write_page(*options.output, options);
  if (!options.live) return ExitCode::ok;
  const auto data = [&](const recording::Recording& recording) { return data_of(recording, options); };
  page::serve({options.runs.front().stem().string(), options.runs, read_runs, data}, *options.live);
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kReport = cli::command_spec<ReportOptions, bind, report>(
    "report", "Show runs on a page for the browser: tune report RUN... -o report.html");

}  // namespace tune::commands

#include <fmt/format.h>

#include "base/store.h"
#include "base/streams.h"
#include "commands/commands.h"
#include "flow/recorded_plan.h"
#include "flow/report_data.h"
#include "flow/user_folders.h"
#include "model/values/shown.h"
#include "report/page.h"

namespace tune::commands {
namespace {

/// What the page shows of one run.
std::string data_of(const std::filesystem::path& run, const ReportOptions& options) {
  const interop::Recording recording = interop::read_recording(run);
  for (const std::string& text : recording.damaged.texts(recording.file)) base::print_to_stderr("note: " + text);
  if (recording.has_older_finals)
    base::print_to_stderr("note: " + recording.file + ": its finals are of an older version, and are left out");
  return flow::report_data(recording, flow::load_recorded_plan(recording, {run, options.yamls, {}, {}}).plan);
}

void must_not_be_input(const ReportOptions& options) {
  std::error_code ignored;
  for (const auto* inputs : {&options.runs, &options.yamls})
    for (const std::filesystem::path& input : *inputs)
      if (std::filesystem::equivalent(input, options.output, ignored))
        throw Error(ExitCode::bad_input,
                    options.output.string() + ": the output is also an input; give the page a name such as report.html");
}

report::PageRules page_rules(const ReportOptions& options, const std::vector<std::string>& data) {
  report::PageRules rules;
  rules.title = options.output.stem().string();
  const std::string now = flow::timestamp();
  rules.made = now.substr(0, now.find('.')) + " UTC";
  base::Hash hash;
  for (const std::string& run : data) hash.add(run);
  rules.nonce = hash.hex();
  return rules;
}

}  // namespace

ExitCode report(const ReportOptions& options) {
  must_not_be_input(options);
  std::vector<std::string> data;
  for (const std::filesystem::path& run : options.runs) data.push_back(data_of(run, options));
  std::error_code ignored;  // writing says why
  if (options.output.has_parent_path()) std::filesystem::create_directories(options.output.parent_path(), ignored);
  base::write_file(options.output, report::page(page_rules(options, data), data));
  base::print(shown_line(fmt::format("{}: {} run{}", options.output.string(), data.size(), data.size() == 1 ? "" : "s")) +
              "\n");
  return ExitCode::ok;
}

}  // namespace tune::commands

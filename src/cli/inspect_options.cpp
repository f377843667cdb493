#include "cli/inspect_options.h"

#include "cli/kinds.h"

namespace tune {
namespace {

/// `met:desc` sorts by `met`, largest first.
void set_sort(ShowOptions& show, std::string column) {
  constexpr std::string_view kDescending = ":desc";
  show.descending = column.ends_with(kDescending);
  if (show.descending) column.resize(column.size() - kDescending.size());
  show.sort = std::move(column);
}

}  // namespace

void add_show(CLI::App& app, ShowOptions& show) {
  CLI::App* command = app.add_subcommand("show", "Show the results of an earlier run again");
  command->add_option("RUN", show.run, "PREFIX of a run's --output, or a journal, CSV file or other recorded run")
      ->required()
      ->type_name("FILE");
  command->add_option("--run", show.number, "Which run of a journal; the first is 1 (default: the last)")
      ->check(whole(1))
      ->type_name("N");
  add_top(*command, show.top, "Specs that are shown, or all (default: 20)");
  command
      ->add_option_function<std::string>(
          "--sort", [&show](const std::string& text) { set_sort(show, text); },
          "Only the table, sorted by this column; NAME:desc puts the largest first")
      ->type_name("NAME");
  command->add_option("--columns", show.columns, "Only the table, with these columns: met,GFLOPS/s,BM,registers")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME,NAME");
  command->add_flag("--failed", show.failed, "Every spec that failed, with its reason");
  command->add_flag("--effects", show.effects, "What each parameter and each of its values does");
  command->add_flag("--chart", show.chart, "The specs as bars");
  command->add_flag("--changes", show.changes, "What would make another spec the winner");
}

void add_cache(CLI::App& app, CacheOptions& cache) {
  CLI::App* command = app.add_subcommand("cache", "Look after the build store: tune cache info, clear or verify");
  command->add_option("WHAT", cache.what, "What it holds, remove all of it, or find what is damaged")
      ->required()
      ->check(CLI::IsMember({"info", "clear", "verify"}).description(""))
      ->type_name("info|clear|verify");
  command->add_option("--store", cache.store, "This store instead of your own")->type_name("DIR");
}

void add_convert(CLI::App& app, ConvertOptions& convert) {
  CLI::App* command = app.add_subcommand("convert", "Write a recorded run in another format: tune convert IN OUT");
  command->add_option("IN", convert.input, "Journal, Kernel Tuner cache, T4 results or CSV; may be .gz or .bz2")
      ->required()
      ->type_name("FILE");
  command->add_option("OUT", convert.output, "By its name: .jsonl .json .t4.json .csv")->required()->type_name("FILE");
  command->add_option("--to", convert.to, "The format, instead of by the name")
      ->check(CLI::IsMember({"journal", "kernel-tuner", "t4", "csv"}).description(""))
      ->type_name("journal|kernel-tuner|t4|csv");
}

void add_diff(CLI::App& app, DiffOptions& diff, int& exit_undecided) {
  CLI::App* command = app.add_subcommand("diff", "Compare two results: what became slower, beyond noise and a limit");
  const char* what =
      "PREFIX of a run's --output, best YAML, database, journal, CSV or other recorded run; may be .gz or .bz2";
  command->add_option("OLD", diff.before, what)->required()->type_name("FILE");
  command->add_option("NEW", diff.now, what)->required()->type_name("FILE");
  add_share(*command, "--threshold", diff.threshold, kShareText,
            "Exit with 3 if something is slower by more than this beyond doubt, 5 if that is open (default: 3%)");
  add_exit_undecided(*command, exit_undecided);
  command->add_option("--markdown", diff.markdown, "Write a summary for a page of a CI service")->type_name("FILE");
  command->add_option("--junit", diff.junit, "Write JUnit XML, a test case per spec")->type_name("FILE");
  command->add_option("--json", diff.json, "Write all that was compared")->type_name("FILE");
  add_top(*command, diff.top, "Specs of each shape in the table, or all (default: 20)");
  command->add_flag("--any-device", diff.any_device, "Compare although the results are of different devices");
}

void add_list_shapes(CLI::App& app, ListShapesOptions& shapes) {
  CLI::App* command = app.add_subcommand("shapes", "List what a program multiplies, from logs of its GEMM library");
  command
      ->add_option("LOG", shapes.logs,
                   "Logs of cuBLASLt or hipBLASLt, results of TunableOp, tables and lists, as --shapes reads them")
      ->required()
      ->type_name("FILE");
  command->add_option("--output,-o", shapes.output, "Write the list to this file, for --shapes (default: stdout)")
      ->type_name("FILE");
  command->add_option("--filter", shapes.filters, "Keep only shapes with this value, such as a=bf16; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=V");
}

void add_report(CLI::App& app, ReportOptions& report) {
  CLI::App* command =
      app.add_subcommand("report", "Show runs on a page for the browser: tune report RUN... -o report.html");
  command
      ->add_option("RUN", report.runs,
                   "PREFIX of a run's --output, or a journal, CSV file, other recorded run or database")
      ->required()
      ->type_name("FILE");
  command->add_option("--output,-o", report.output, "The HTML file to write")->type_name("FILE");
  add_live(*command, report.live, "Serve the page, which follows the runs, to this machine unless ADDRESS is given");
  command->add_option("--yaml", report.yamls, "The tuning file of the runs, for its objective, metrics and problem")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void require_a_page(const ReportOptions& report) {
  if (!report.output && !report.live)
    throw Error(ExitCode::bad_input, "tune report needs -o FILE for the page, such as -o report.html, or --live PORT");
}

}  // namespace tune

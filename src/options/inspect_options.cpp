#include "options/inspect_options.h"

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
  add_top(*command, show.top, "Specs that are shown, or all (default: 20 on a terminal, else all)");
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

}  // namespace tune

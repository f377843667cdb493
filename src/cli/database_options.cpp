#include "cli/database_options.h"

#include "cli/kinds.h"
#include "cli/options.h"

namespace tune {
namespace {

constexpr const char* kTheOnlyDevice = "Results of this device, where the database has several";

void add_merge(CLI::App& app, MergeOptions& merge) {
  CLI::App* command = app.add_subcommand("merge", "Add results to a database: tune merge best.yaml more.yaml -o DB");
  command->add_option("RESULT", merge.inputs, "Best YAML files of tunings, and databases")
      ->required()
      ->type_name("FILE");
  command->add_option("--output,-o", merge.output, "The database; what it has already is kept")
      ->required()
      ->type_name("FILE");
  command->add_option("--alias", merge.aliases, "OTHER=NAME: another name of the device NAME; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OTHER=NAME");
}

void add_selection(CLI::App& command, SelectionOptions& selection, const char* device_help) {
  command.add_option("--kernel", selection.kernel, "The name of a tuning file, where the database has several")
      ->type_name("NAME");
  command.add_option("--problem", selection.problem, "Only results with this, such as a=bf16; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=V");
  command.add_option("--device", selection.device, device_help)->type_name("NAME");
}

void add_lookup(CLI::App& app, LookupOptions& lookup) {
  CLI::App* command = app.add_subcommand("lookup", "Print the best configuration that a database has for some sizes");
  command->add_option("--db", lookup.database, "The database")->required()->type_name("FILE");
  command->add_option("-m", lookup.m, "Rows of C")->check(whole(1))->type_name("M");
  command->add_option("-n", lookup.n, "Columns of C")->check(whole(1))->type_name("N");
  command->add_option("-k", lookup.k, "Length of the products")->check(whole(1))->type_name("K");
  command->add_option("--size", lookup.sizes, "Another size; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=N");
  add_selection(*command, lookup.selection, "Results of this device or architecture (default: this machine's)");
  command->add_option("--key", lookup.keys, "What sizes without a result become: pow2, or a size as an expression")
      ->allow_extra_args(false)
      ->type_name("pow2|NAME=EXPR");
  command
      ->add_option("--validate", lookup.validate,
                   "Print what --key costs, by the times in these journals, instead of a result")
      ->needs("--key")
      ->type_name("FILE");
}

void add_cover(CLI::App& app, CoverOptions& cover) {
  CLI::App* command = app.add_subcommand("cover", "Find few configurations that are nearly the best for all sizes");
  command->add_option("DB", cover.database, "The database, which gets the rule")->required()->type_name("FILE");
  command->add_option("RUN", cover.runs, "Journals of the tunings that its results are from")
      ->required()
      ->type_name("FILE");
  command->add_option("--slowdown", cover.slowdown, "How much slower than the best of each size they may be")
      ->check(CLI::Range(1.0, 100.0).description(""))
      ->capture_default_str()
      ->type_name("X");
  command->add_option("--weights", cover.weights, "A list of sizes with calls: how often each is needed")
      ->type_name("FILE");
  add_selection(*command, cover.selection, kTheOnlyDevice);
  command->add_option("--output,-o", cover.output, "Write the database with the rule to this file instead")
      ->type_name("FILE");
}

void add_export(CLI::App& app, ExportOptions& exporting) {
  CLI::App* command = app.add_subcommand("export", "Write what a program needs to use the results of a database");
  command->add_option("DB", exporting.database, "The database")->required()->type_name("FILE");
  command->add_option("--format", exporting.format, "A C++17 header, JSON, -D flags for CMake, or a table")
      ->required()
      ->check(CLI::IsMember({"header", "json", "cmake", "csv"}).description(""))
      ->type_name("header|json|cmake|csv");
  add_selection(*command, exporting.selection, kTheOnlyDevice);
  command->add_option("--output,-o", exporting.output, "Write to this file (default: stdout)")->type_name("FILE");
}

}  // namespace

void add_database_commands(CLI::App& app, DatabaseOptions& options) {
  add_merge(app, options.merge);
  add_lookup(app, options.lookup);
  add_cover(app, options.cover);
  add_export(app, options.exporting);
}

bool take_database_command(const CLI::App& app, DatabaseOptions& given, Options& options) {
  if (app.got_subcommand("merge")) options.merge = std::move(given.merge);
  if (app.got_subcommand("lookup")) options.lookup = std::move(given.lookup);
  if (app.got_subcommand("cover")) options.cover = std::move(given.cover);
  if (app.got_subcommand("export")) options.exporting = std::move(given.exporting);
  return options.merge || options.lookup || options.cover || options.exporting;
}

}  // namespace tune

#include "options/database_options.h"

#include "options/groups.h"

namespace tune {
namespace {

void add_merge(CLI::App& app, MergeOptions& merge) {
  CLI::App* command = app.add_subcommand("merge", "Add results to a database: tune merge best.yaml more.yaml -o DB");
  command->add_option("FILE", merge.inputs, "Best YAML files of tunings, and databases")->required()->type_name("FILE");
  command->add_option("--output,-o", merge.output, "The database; what it has already is kept")
      ->required()
      ->type_name("FILE");
  command->add_option("--alias", merge.aliases, "OTHER=NAME: another name of the device NAME; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OTHER=NAME");
}

}  // namespace

void add_database_commands(CLI::App& app, DatabaseOptions& options) { add_merge(app, options.merge); }

bool take_database_command(const CLI::App& app, DatabaseOptions& given, Options& options) {
  if (app.got_subcommand("merge")) options.merge = std::move(given.merge);
  return options.merge.has_value();
}

}  // namespace tune

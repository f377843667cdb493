#include "cli/kokkos_options.h"

#include "cli/kinds.h"
#include "cli/options.h"
#include "model/values/error.h"

namespace tune {

void add_kokkos(CLI::App& app, KokkosOptions& kokkos) {
  CLI::App* command = app.add_subcommand(
      "kokkos", "Tune a program that uses Kokkos or tune/tuning.h, by running it: tune kokkos -- ./app ARGUMENTS");
  command->add_option("--db", kokkos.database, "The database of results (default: PROGRAM.db.yaml)")->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--strategy", [&kokkos](const std::string& text) { kokkos.strategy = search::parse_strategy(text); },
          "How to search, as for a run (default: auto)")
      ->type_name("NAME");
  command
      ->add_option("--max-evals", kokkos.max_evals,
                   "Configurations to try for each region (default: all of up to 100, else 100 or 40 per variable)")
      ->check(whole(1))
      ->type_name("N");
  command->add_option("--max-runs", kokkos.max_runs, "Runs of the program before it gives up")
      ->check(whole(1))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--pairs", kokkos.pairs, "Runs without and with the result, in turns, to compare them")
      ->check(whole(0))
      ->capture_default_str()
      ->type_name("N");
}

bool take_kokkos_command(const CLI::App& app, KokkosOptions& given, const std::vector<std::string>& program,
                         Options& options) {
  if (!app.got_subcommand("kokkos")) return false;
  if (program.empty())
    throw Error(ExitCode::bad_input, "tune kokkos needs the program behind --: tune kokkos -- ./app ARGUMENTS");
  given.program = program;
  options.kokkos = std::move(given);
  return true;
}

}  // namespace tune

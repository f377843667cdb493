// Compares strategies on recorded runs; README.md beside this file has its options and what it prints.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "bench/search_bench.h"
#include "model/values/error.h"
#include "search/strategies.h"

namespace {

using namespace tune;

/// The strategies that are meant where none is named.
std::vector<std::string> all_strategies() {
  std::vector<std::string> names;
  for (const search::StrategyChoice& choice : search::strategies())
    if (choice.name != "exhaustive") names.push_back(choice.name);
  return names;
}

void add_options(CLI::App& app, bench::SearchBenchOptions& options) {
  app.add_option("FILE", options.recordings, "Recorded runs: journals, Kernel Tuner caches, T4 results")->required();
  app.add_option("--strategy", options.strategies, "As for a run; may be repeated (default: all but exhaustive)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--budgets", options.budgets, "Specs tried")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N,N");
  app.add_option("--seeds", options.seeds, "How often each is repeated")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--seed", options.seed, "The first seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("S");
  app.add_flag("--warm-start", options.warm_start,
               "Compare searches with those that begin with the winners of the problems before");
  app.add_option("--model", options.yaml, "Compare searches with those that have the model of cost of this tuning file")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--device", options.device, "The device of recordings that do not say what theirs can do")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--wrong", options.wrong, "Make the model wrong")
      ->check(CLI::IsMember({"shuffled", "reversed"}))
      ->type_name("HOW");
  app.add_option("--ahead", options.ahead, "With --model: specs asked for before the first of them is told")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--jobs", options.jobs, "Threads (default: one per core)")->check(CLI::PositiveNumber)->type_name("N");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares strategies on recorded runs.", "bench_search");
  bench::SearchBenchOptions options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
    if (options.strategies.empty()) options.strategies = all_strategies();
    std::ranges::sort(options.budgets);
    const auto compare = !options.yaml.empty() ? bench::cost_models
                         : options.warm_start  ? bench::warm_starts
                                               : bench::strategies_compared;
    std::fputs(compare(options).c_str(), stdout);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_search: error: %s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}

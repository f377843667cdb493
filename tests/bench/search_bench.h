#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// What bench_search does: strategies search recorded runs, and the results are compared.

namespace tune::bench {

struct SearchBenchOptions {
  std::vector<std::filesystem::path> recordings;
  std::vector<std::string> strategies;                 ///< as --strategy of a run takes them
  std::vector<std::int64_t> budgets = {50, 100, 200};  ///< ascending
  int seeds = 50;
  std::uint64_t seed = 0;             ///< the first one
  int jobs = 0;                       ///< 0: one per core
  bool warm_start = false;            ///< compares searches that begin with the winners of other problems
  std::filesystem::path yaml = {};    ///< compares searches with those that have this file's model of cost
  std::filesystem::path device = {};  ///< a device file, for recordings that do not tell theirs
  std::size_t ahead = 1;              ///< with a model: specs that are asked for before the first of them is told
  std::string wrong = {};             ///< what is done to the model: "", "shuffled", "reversed"
};

/// Per recording and strategy, which share of the optimum is reached after each budget, its difference to uniform
/// random, and after how many specs it is nearly reached. One evaluation is one distinct spec, failed ones count. Runs
/// on several threads; the figures do not depend on how many. Throws Error(bad_input), as does warm_starts.
std::string strategies_compared(const SearchBenchOptions& options);
/// Compares searches of several problems that begin with nothing with those that begin with the winners of the nearest
/// problems before, as those of `--shapes` do.
std::string warm_starts(const SearchBenchOptions& options);
/// Compares searches that begin with the default and what a model of cost says of the other specs with those that begin
/// with the default alone. Throws also what is wrong in the tuning file.
std::string cost_models(const SearchBenchOptions& options);

}  // namespace tune::bench

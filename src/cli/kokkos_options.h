#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "search/strategies.h"

// What the command about programs that tune themselves is given.

namespace CLI {
class App;
}

namespace tune {

struct Options;

/// `tune kokkos`.
struct KokkosOptions {
  std::optional<std::filesystem::path> database;   ///< unset: by the program's name
  std::optional<search::StrategyChoice> strategy;  ///< unset: the library's own choice
  std::optional<std::int64_t> max_evals;           ///< of each region
  int max_runs = 100;
  int pairs = 5;  ///< of runs without and with the result
  std::vector<std::string> program;
};

/// Adds the command. `kokkos` must outlive the parsing.
void add_kokkos(CLI::App& app, KokkosOptions& kokkos);
/// Whether the command line has it, which is then moved to `options`. `program` stands behind --. Throws
/// Error(bad_input).
bool take_kokkos_command(const CLI::App& app, KokkosOptions& given, const std::vector<std::string>& program,
                         Options& options);

}  // namespace tune

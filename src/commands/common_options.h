#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "platform/address.h"
#include "platform/store/store.h"
#include "results/results.h"
#include "search/strategies.h"

// Options that several commands have, and the endings of the files that they take.

namespace tune::commands {

inline const std::vector<std::string> kYamlFiles = {"yaml", "yml"};
inline const std::vector<std::string> kRecordings = {"jsonl", "json", "csv", "gz", "bz2"};
inline const std::vector<std::string> kResultFiles = {"jsonl", "json", "csv", "gz", "bz2", "yaml", "yml"};
inline const std::vector<std::string> kShapeFiles = {"yaml", "yml", "csv", "json", "log", "txt"};

/// How results and progress look.
struct TerminalOptions {
  std::optional<std::size_t> top;  ///< specs in the table; 0: all; unset: 20
  enum class Color { automatic, always, never } color = Color::automatic;
  bool verbose = false;
};

bool wants_colors(const TerminalOptions& terminal, int descriptor);
/// How results are printed on stdout.
results::ResultsRules printed_results(const TerminalOptions& terminal);

/// Throws Error(bad_input) if the file that a command is to write is one of those that it reads.
void must_not_be_input(const std::filesystem::path& output, std::span<const std::filesystem::path> inputs);

/// Where build artifacts lie.
struct StoreOptions {
  std::optional<std::filesystem::path> store, base_store;
  std::optional<std::int64_t> limit;  ///< bytes
};

/// Bytes that a store which nobody has named may hold.
inline constexpr std::int64_t kStoreLimit = std::int64_t{10} << 30;
platform::StorePlaces store_places(const StoreOptions& options);

/// --top: how many rows a table shows; `all` is 0.
cli::Option bind_top(cli::Command& command, std::optional<std::size_t>& top, const char* help);
/// --exit-undecided.
cli::Option bind_exit_undecided(cli::Command& command, int& code);
/// What a command ends with that has --exit-undecided.
inline ExitCode with_exit_undecided(ExitCode code, int undecided) {
  return code == ExitCode::undecided ? static_cast<ExitCode>(undecided) : code;
}
/// --strategy.
cli::Option bind_strategy(cli::Command& command, std::optional<search::StrategyChoice>& strategy, const char* help);
/// --live [ADDRESS:]PORT.
cli::Option bind_live(cli::Command& command, std::optional<platform::Address>& live, const char* help);

}  // namespace tune::commands

#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// What the commands about databases of results are given. options.h has that of the other commands.

namespace CLI {
class App;
}

namespace tune {

struct Options;

/// `tune merge`.
struct MergeOptions {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  std::vector<std::string> aliases;  ///< OTHER=NAME
};

/// Which of a database's results are meant, where it has those of several kernels, problems or devices.
struct SelectionOptions {
  std::optional<std::string> kernel;
  std::optional<std::string> device;  ///< unset: this machine's
  std::vector<std::string> problem;   ///< KEY=VALUE
};

/// `tune lookup`.
struct LookupOptions {
  std::filesystem::path database;
  SelectionOptions selection;
  std::optional<std::int64_t> m, n, k;
  std::vector<std::string> sizes;               ///< NAME=N: those of other problems
  std::vector<std::string> keys;                ///< pow2, or NAME=EXPRESSION
  std::vector<std::filesystem::path> validate;  ///< runs whose times tell the loss
};

/// `tune cover`.
struct CoverOptions {
  std::filesystem::path database;
  std::vector<std::filesystem::path> runs;
  SelectionOptions selection;
  double slowdown = 1.03;
  std::optional<std::filesystem::path> weights;
  std::optional<std::filesystem::path> output;
};

/// `tune export`.
struct ExportOptions {
  std::filesystem::path database;
  SelectionOptions selection;
  std::string format;
  std::optional<std::filesystem::path> output;
};

struct DatabaseOptions {
  MergeOptions merge;
  LookupOptions lookup;
  CoverOptions cover;
  ExportOptions exporting;
};

/// Adds the commands. `options` must outlive the parsing.
void add_database_commands(CLI::App& app, DatabaseOptions& options);
/// Whether the command line has one of them, which is then moved to `options`.
bool take_database_command(const CLI::App& app, DatabaseOptions& given, Options& options);

}  // namespace tune

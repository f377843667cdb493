#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "options/options.h"

// The options of a run in groups, as CLI11 takes them: what they set, what they accept, and their line of the help.
namespace tune {

/// Accepts whole numbers from `least` on.
CLI::Validator whole(std::int64_t least = std::numeric_limits<std::int64_t>::min());
/// What a share is, in errors and in the help.
inline constexpr const char* kShareText = "share from 0 to below 1, such as 1% or 0.01";
/// Adds an option whose value is a share, `1%` or `0.01`. `kind` says in an error what the refused text is not.
CLI::Option* add_share(CLI::App& app, const std::string& name, std::optional<double>& share, const std::string& kind,
                       const char* help);
/// Adds --top: how many rows a table shows; `all` is 0.
CLI::Option* add_top(CLI::App& app, std::optional<std::size_t>& top, const char* help);

/// Adds `--live [ADDRESS:]PORT`.
CLI::Option* add_live(CLI::App& app, std::optional<base::PageAddress>& live, const char* help);

/// Each adds the options of one group. `options` must outlive the parsing.
void add_what_to_tune(CLI::App& app, Options& options);
void add_programs(CLI::App& app, Options& options);
void add_how(CLI::App& app, Options& options);
void add_what_comes_out(CLI::App& app, Options& options);

}  // namespace tune

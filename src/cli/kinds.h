#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "platform/net/page_server.h"

// Kinds of options that several groups or commands have: what their values look like, and what is said of others.
namespace tune {

/// Accepts numbers above 0.
CLI::Validator positive();
/// Accepts whole numbers from `least` on.
CLI::Validator whole(std::int64_t least = std::numeric_limits<std::int64_t>::min());
/// The bytes that the value of this option means: 500M, 12G. Throws CLI::ValidationError.
std::int64_t bytes_of(const std::string& option, const std::string& text);

/// Adds an option whose value is a time: 90s, 10m, 1.5h.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds, const char* help);
/// What a share is, in errors and in the help.
inline constexpr const char* kShareText = "share from 0 to below 1, such as 1% or 0.01";
/// Adds an option whose value is a share, `1%` or `0.01`. `kind` says in an error what the refused text is not.
CLI::Option* add_share(CLI::App& app, const std::string& name, std::optional<double>& share, const std::string& kind,
                       const char* help);
/// Adds --top: how many rows a table shows; `all` is 0.
CLI::Option* add_top(CLI::App& app, std::optional<std::size_t>& top, const char* help);
/// Adds --exit-undecided, with its default.
CLI::Option* add_exit_undecided(CLI::App& app, int& code);
/// Adds `--live [ADDRESS:]PORT`.
CLI::Option* add_live(CLI::App& app, std::optional<platform::PageAddress>& live, const char* help);

}  // namespace tune

#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tune::commands {

// A line of a message that begins with a tab is a command, which is to be copied: on a terminal it stands on a line of
// its own, however long it is; elsewhere it follows what it belongs to.

/// Prints each line of a result on stdout, in lines of the terminal's width, all but the first indented.
void print_lines(std::string_view result);
/// Prints a text on stderr: in lines of the terminal's width, all but the first indented, or in one where that is no
/// terminal, so that scripts can grep it.
void print_wrapped(std::string_view text);
/// The same for each of these, as `warning: ...`.
void print_warnings(std::span<const std::string> texts);
/// The same for each line, which is a problem of its own unless it is a command, as `tune: error: ...`.
void print_error(std::string_view text);
/// What --keep has left in a folder of these specs.
std::string kept_text(const std::filesystem::path& folder, std::span<const std::int64_t> specs);
/// `1.5 MiB`
std::string bytes_text(std::int64_t bytes);
/// `2026-11-22 10:44 UTC`
std::string minute_text(std::filesystem::file_time_type time);

}  // namespace tune::commands

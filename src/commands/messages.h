#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tune::commands {

/// Prints a text on stderr: in lines of the terminal's width, all but the first indented, or in one where that is no
/// terminal, so that scripts can grep it.
void print_wrapped(std::string_view text);
/// The same for each of these, as `warning: ...`.
void print_warnings(std::span<const std::string> texts);

}  // namespace tune::commands

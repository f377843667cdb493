#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/command.h"

namespace tune::config {

/// What a command has that only a shell can do, such as `a pipe (|)`; or a quote that has no end.
struct NeedsShell {
  std::string what;
};

/// The words of a command that no shell reads: blanks separate them, and quotes and backslashes keep blanks as a
/// shell's do. What a shell would expand or interpret otherwise is not taken literally in silence.
std::variant<Words, NeedsShell> split_words(std::string_view text);

/// What ends the first command of a shell's text, such as `|` of a pipeline, so that words behind the text are not
/// words of that command; nullopt: the text is one command.
std::optional<std::string> end_of_first_command(std::string_view text);

}  // namespace tune::config

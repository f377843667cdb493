#pragma once
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

}  // namespace tune::config

#include "commands/on_stderr.h"

#include <unistd.h>

#include "base/streams.h"
#include "base/terminal.h"
#include "report/text.h"

namespace tune::commands {

void print_wrapped(std::string_view text) {
  const auto columns = static_cast<std::size_t>(base::terminal_columns(STDERR_FILENO));
  for (const std::string& line : report::wrapped(text, columns, 2)) base::print_to_stderr(line);
}

void print_warnings(std::span<const std::string> texts) {
  for (const std::string& text : texts) print_wrapped("warning: " + text);
}

}  // namespace tune::commands

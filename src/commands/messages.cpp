#include "commands/messages.h"

#include <unistd.h>

#include <algorithm>

#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/text.h"

namespace tune::commands {

void print_wrapped(std::string_view text) {
  const auto columns = static_cast<std::size_t>(platform::terminal_columns(STDERR_FILENO));
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = (first ? "" : "  ") + std::string(text.substr(0, end));
    for (const std::string& part : report::wrapped(line, columns, 2)) platform::print_to_stderr(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_warnings(std::span<const std::string> texts) {
  for (const std::string& text : texts) print_wrapped("warning: " + text);
}

}  // namespace tune::commands

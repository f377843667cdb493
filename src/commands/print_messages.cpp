#include "commands/print_messages.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/shown_text.h"

namespace tune::commands {

namespace {

/// The lines of a message as `descriptor` shows them. `first` stands before the first one, `other` before the others.
std::vector<std::string> shown_lines(std::string_view text, int descriptor, std::string_view first,
                                     std::string_view other) {
  const auto columns = static_cast<std::size_t>(platform::terminal_columns(descriptor));
  std::vector<std::string> lines;
  while (!text.empty() || lines.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    if (!line.starts_with('\t') || lines.empty())
      for (std::string& part : report::wrapped(std::string(lines.empty() ? first : other) + line, columns, 2))
        lines.push_back(std::move(part));
    else if (columns > 0)
      lines.push_back("    " + line.substr(1));
    else
      lines.back() += " " + line.substr(1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void print_on_stderr(std::string_view text, std::string_view first, std::string_view other) {
  for (const std::string& line : shown_lines(text, STDERR_FILENO, first, other)) platform::print_to_stderr(line);
}

}  // namespace

void print_lines(std::string_view result) {
  std::string lines;
  for (const std::string& line : shown_lines(with_escapes(result), STDOUT_FILENO, "", "")) lines += line + '\n';
  platform::print_escaped(lines);
}

void print_wrapped(std::string_view text) { print_on_stderr(text, "", "  "); }

void print_error(std::string_view text) { print_on_stderr(text, "tune: error: ", "tune: error: "); }

std::string kept_text(const std::filesystem::path& folder, std::span<const std::int64_t> specs) {
  std::string first;
  std::size_t count = 0;
  for (const std::int64_t mesh_idx : specs) {
    std::error_code ignored;
    const std::string of_spec = (folder / std::to_string(mesh_idx)).string();
    if (std::filesystem::exists(of_spec, ignored) && count++ == 0) first = line_with_escapes(of_spec);
  }
  if (count == 0) return "kept: nothing, because no spec failed\n";
  return count == 1 ? fmt::format("kept: {}\n", first) : fmt::format("kept: {} folders such as {}\n", count, first);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string minute_text(std::filesystem::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch());
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

void print_warnings(std::span<const std::string> texts) {
  for (const std::string& text : texts) print_wrapped("warning: " + text);
}

}  // namespace tune::commands

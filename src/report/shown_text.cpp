#include "report/shown_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "model/values/escaped_text.h"
#include "model/values/names.h"

namespace tune::report {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct Range {
  char32_t first, last;
};

/// Marks that are combined with the character before them, joiners, and variation selectors.
constexpr std::array<Range, 8> kWithoutWidth = {{{0x300, 0x36F},
                                                 {0x1AB0, 0x1AFF},
                                                 {0x1DC0, 0x1DFF},
                                                 {0x200C, 0x200D},
                                                 {0x20D0, 0x20FF},
                                                 {0xFE00, 0xFE0F},
                                                 {0xFE20, 0xFE2F},
                                                 {0x1F3FB, 0x1F3FF}}};
/// Hangul, CJK, Kana, forms of full width, and emoji.
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

std::size_t columns_of(char32_t code_point) {
  const auto holds = [code_point](Range range) { return code_point >= range.first && code_point <= range.last; };
  if (std::ranges::any_of(kWithoutWidth, holds)) return 0;
  return std::ranges::any_of(kWide, holds) ? 2 : 1;
}

/// Where the word ends that begins here. What stands between quotes is one word, so that it can be copied, and so is a
/// number with its `%`.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  std::size_t quote = begin;
  const auto is_apostrophe = [&] {
    return quote + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[quote + 1])) != 0;
  };
  if (text.substr(begin).starts_with('\'')) quote = text.find('\'', begin + 1);
  while (quote != begin && quote != std::string_view::npos && is_apostrophe()) quote = text.find('\'', quote + 1);
  const std::size_t end = std::min(text.find(' ', quote == std::string_view::npos ? begin : quote), text.size());
  return text.substr(end).starts_with(" %") ? end_of_word(text, end + 1) : end;
}

/// Whether a word is settings of a spec, and no path: each part has a name and a value.
bool is_settings(std::string_view word) {
  for (std::size_t slash = 0; !word.empty(); word.remove_prefix(std::min(slash + 1, word.size()))) {
    slash = std::min(word.find('/'), word.size());
    if (word.substr(0, slash).find('=') == word.npos) return false;
  }
  return true;
}

/// How much of a line that is too long fits if it ends between two settings of its last word; 0: none.
std::size_t end_of_settings(std::string_view line, std::size_t columns) {
  const std::size_t word = line.find_last_of(' ') + 1;
  if (width_of(line) <= columns || !is_settings(line.substr(word))) return 0;
  std::size_t slash = line.rfind('/');
  while (slash != line.npos && slash > word && width_of(line.substr(0, slash + 1)) > columns)
    slash = line.rfind('/', slash - 1);
  return slash == line.npos || slash < word ? 0 : slash + 1;
}

constexpr const char* kReset = "\x1b[0m";

std::string_view code_of(Style::Color color) {
  switch (color) {
    case Style::Color::red:
      return "\x1b[31m";
    case Style::Color::yellow:
      return "\x1b[33m";
    case Style::Color::cyan:
      return "\x1b[36m";
    case Style::Color::none:
      break;
  }
  return "";
}

}  // namespace

std::string printable(std::string_view line, std::size_t limit) {
  if (line.size() <= limit) return line_with_escapes(line);
  std::size_t end = limit;
  while (end > 0 && is_continuation(line[end])) --end;
  return line_with_escapes(line.substr(0, end)) + " ...";
}

std::string first_line(std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  return line.empty() ? "(no message)" : printable(line);
}

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    columns += columns_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  const std::string_view mark = std::string_view("...").substr(0, columns > 6 ? 3 : 0);
  std::size_t room = columns - mark.size(), bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = first_code_point(text.substr(bytes));
    const std::size_t width = columns_of(point.value);
    if (width > room) break;
    room -= width;
    bytes += point.bytes;
  }
  return std::string(text.substr(0, bytes)) + std::string(mark);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  if (columns == 0) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  bool has_word = false;
  while (!text.empty()) {
    // A word comes with the spaces before it.
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = end_of_word(text, begin);
    if (has_word && width_of(line) + width_of(text.substr(0, end)) > columns) {
      lines.push_back(std::move(line));
      line = std::string(indent, ' ') + std::string(text.substr(begin, end - begin));
    } else {
      line += text.substr(0, end);
    }
    while (const std::size_t fits = end_of_settings(line, columns)) {
      lines.push_back(line.substr(0, fits));
      line = std::string(indent, ' ') + line.substr(fits);
    }
    has_word = true;
    text.remove_prefix(end);
  }
  lines.push_back(std::move(line));
  return lines;
}

std::string interval_text(const Interval& interval) {
  return is_vague_ratio(interval) ? "not known" : fmt::format("{:.3f}..{:.3f}", interval.low, interval.high);
}

std::string four_digits(double value) {
  if (!std::isfinite(value)) return "-";
  const std::string rounded = fmt::format("{:.3e}", value);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  if (exponent < -4 || exponent > 8) return rounded;
  return fmt::format("{:.{}f}", std::strtod(rounded.c_str(), nullptr), std::max(3 - exponent, 0));
}

std::string whole_or_four_digits(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value) : four_digits(value);
}

std::vector<std::string> varying_parameters(const Space& space) {
  // In how many mappings a parameter has this one value.
  std::map<std::string_view, std::pair<const Value*, std::size_t>> constants;
  for (const Space::Mapping& mapping : space.mappings())
    for (const Parameter& parameter : mapping.parameters) {
      if (parameter.values.size() != 1) continue;
      auto& [value, count] = constants.try_emplace(parameter.name, &parameter.values.front(), 0).first->second;
      if (*value == parameter.values.front()) ++count;
    }
  Names names;
  for (const Space::Mapping& mapping : space.mappings())
    for (const Parameter& parameter : mapping.parameters) {
      const auto constant = constants.find(parameter.name);
      if (constant == constants.end() || constant->second.second < space.mappings().size())
        names.declare(parameter.name);
    }
  return names.all();
}

std::string settings_text(const Spec& spec, std::span<const std::string> names) {
  std::string text;
  std::size_t next = 0;  // the names are mostly in the order of the parameters
  for (const Setting& setting : spec.params) {
    const bool named = next < names.size() && names[next] == setting.name;
    if (!named && std::find(names.begin(), names.end(), setting.name) == names.end()) continue;
    ++next;
    if (!text.empty()) text += '/';
    text += setting.name + "=" + to_text(setting.value);
  }
  return printable(text, text.size());
}

std::string values_text(const Spec& spec, std::span<const std::string> names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    const Value* value = spec.find(name, texts.size());
    const std::string text = value == nullptr ? "-" : to_text(*value);
    texts.push_back(text.empty() ? "''" : text);
  }
  return fmt::format("{}", fmt::join(texts, "/"));
}

std::string styled(std::string_view text, Style style, bool colors) {
  std::string result = with_escapes(text);
  if (!colors || text.empty() || (!style.bold && style.color == Style::Color::none)) return result;
  return fmt::format("{}{}{}{}", style.bold ? "\x1b[1m" : "", code_of(style.color), result, kReset);
}

}  // namespace tune::report

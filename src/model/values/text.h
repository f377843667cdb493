#pragma once
#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tune {

/// The number that the text is from its first to its last character; nullopt: it is none.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The text without these characters at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Whether the character can stand in an identifier.
inline bool is_of_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether the text is `[A-Za-z_][A-Za-z0-9_]*`.
inline bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, is_of_identifier);
}

/// The longest runs of characters that can stand in an identifier, in order.
inline std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    for (end = begin; end < text.size() && is_of_identifier(text[end]);) ++end;
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

/// The enumerator of this name, by the names of all in the order of the enumeration; nullopt: there is none.
template <typename Enum>
std::optional<Enum> enumerator(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found != names.end() ? std::optional(static_cast<Enum>(found - names.begin())) : std::nullopt;
}

/// `1 spec`, `3 specs`; `many` where an s does not do: `2 binaries`.
std::string plural(std::integral auto count, std::string_view one, std::string_view many = "") {
  std::string text = std::to_string(count) + ' ';
  text += count == 1 || many.empty() ? one : many;
  return count == 1 || !many.empty() ? text : text + 's';
}

/// The text with the letters of ASCII in lower case.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace tune

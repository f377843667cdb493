#include "fuzz_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tune::fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostBytes = 16'384;

constexpr std::string_view kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483649",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775808",
                                         "18446744073709551616",
                                         "1e308",
                                         "1e309",
                                         "-1e308",
                                         "5e-324",
                                         "1e-400",
                                         "0.1",
                                         "1.5",
                                         "-0.0",
                                         "NaN",
                                         "Infinity",
                                         "-Infinity",
                                         ".inf",
                                         "0x7fffffffffffffff",
                                         "010",
                                         "1000001",
                                         "99999999999999999999999999999999999999999999"};

constexpr std::string_view kPieces[] = {"\0"sv,
                                        "\x01"sv,
                                        "\x04"sv,
                                        "\x1b[31m"sv,
                                        "\x7f"sv,
                                        "\xc2\x9b"sv,
                                        "\xe2\x80\xae"sv,
                                        "\xe2\x81\xa6"sv,
                                        "\xff"sv,
                                        "\xc0\x80"sv,
                                        "\xed\xa0\x80"sv,
                                        "\xf8"sv,
                                        "\xef\xbb\xbf"sv,
                                        "\xe2\x80\xa8"sv,
                                        "\r"sv,
                                        "\r\n"sv,
                                        "\t"sv,
                                        "\\"sv,
                                        "\"",
                                        "'",
                                        "\n",
                                        "\n\n",
                                        ": ",
                                        ":",
                                        " #",
                                        "#",
                                        "- ",
                                        "? ",
                                        "|\n",
                                        ">-\n",
                                        "%YAML 1.2\n",
                                        "---\n",
                                        "\n...\n",
                                        "&a ",
                                        "*a",
                                        "<<: *a",
                                        "!!binary ",
                                        "!!map ",
                                        "!",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        "(",
                                        ")",
                                        "$",
                                        "$$",
                                        "${HOME}",
                                        "$NO_SUCH",
                                        "{file}",
                                        "{args}",
                                        "`",
                                        "@",
                                        "%",
                                        "**",
                                        "//",
                                        "null",
                                        "~",
                                        "true",
                                        "True",
                                        "\\u0000",
                                        "\\ud800",
                                        "\\u202e",
                                        "\\x1b",
                                        "%s%n",
                                        "../../..",
                                        "/",
                                        "{}",
                                        "[]",
                                        "''",
                                        "\"\""};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

std::size_t token_end(std::string_view text, std::size_t begin) {
  const char c = text[begin];
  std::size_t end = begin + 1;
  if (is_word(c)) {
    while (end < text.size() && is_word(text[end])) ++end;
  } else if (c == '"' || c == '\'') {
    while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text.size());
  } else if (c == ' ') {
    while (end < text.size() && text[end] == ' ') ++end;
  }
  return end;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  return lines;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (; times > 0 && result.size() < kMostBytes; --times) result += text;
  return result;
}

/// Lists of aliases of lists of aliases.
std::string alias_bomb(Dice& dice) {
  std::string text = "a0: &a0 [1, 2, 3]\n";
  const std::size_t depth = 2 + dice.below(12);
  for (std::size_t i = 1; i < depth; ++i) {
    const std::string before = fmt::format("*a{}", i - 1);
    text += fmt::format("a{0}: &a{0} [{1}{2}]\n", i, repeated(before + ", ", 8), before);
  }
  return text;
}

}  // namespace

std::uint64_t Dice::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const std::size_t end = std::min(token_end(text, 0), text.size());
    tokens.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return tokens;
}

Mutator::Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {
  std::set<std::string> words;
  for (const std::string& seed : seeds_)
    for (const std::string& token : tokens_of(seed))
      if ((is_word(token[0]) || token[0] == '"' || token[0] == '\'') && token.size() < 100) words.insert(token);
  words_.assign(words.begin(), words.end());
}

std::string Mutator::make(Dice& dice) const {
  std::string text = dice.any(seeds_);
  for (std::size_t changes = 1 + dice.below(6); changes > 0; --changes) change(text, dice);
  if (text.size() > 4 * kMostBytes) text.resize(4 * kMostBytes);
  return text;
}

void Mutator::change(std::string& text, Dice& dice) const {
  switch (dice.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return change_token(text, dice);
    case 5:
    case 6:
    case 7:
      return change_lines(text, dice);
    case 8:
      return wrap_token(text, dice);
    case 9:
      text.insert(dice.below(text.size() + 1), dice.any(kPieces));
      return;
    case 10:
      if (dice.once_in(4)) text.resize(dice.below(text.size() + 1));
      return;
    default:
      if (!text.empty()) text[dice.below(text.size())] = static_cast<char>(dice.below(256));
  }
}

void Mutator::change_token(std::string& text, Dice& dice) const {
  std::vector<std::string> tokens = tokens_of(text);
  if (tokens.empty()) return;
  std::string& token = tokens[dice.below(tokens.size())];
  switch (dice.below(7)) {
    case 0:
      token.clear();
      break;
    case 1:
      token += token;
      break;
    case 2:
      token.swap(tokens[dice.below(tokens.size())]);
      break;
    case 3:
      token = dice.any(kNumbers);
      break;
    case 4:
      token = dice.any(kPieces);
      break;
    case 5:
      if (is_word(token[0])) token.erase(dice.below(token.size()), 1);
      break;
    default:
      token = dice.any(words_);
  }
  text = joined(tokens);
}

void Mutator::change_lines(std::string& text, Dice& dice) const {
  std::vector<std::string> lines = lines_of(text);
  const std::size_t at = dice.below(lines.size());
  const auto position = lines.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(7)) {
    case 0:
      lines.erase(position);
      break;
    case 1:
      lines.insert(position, lines[at]);
      break;
    case 2:
      lines[at].swap(lines[dice.below(lines.size())]);
      break;
    case 3:
      lines[at].insert(0, dice.below(6), ' ');
      break;
    case 4:
      lines[at].erase(0, lines[at].find_first_not_of(' '));
      break;
    case 5:
      lines.insert(position, dice.any(lines_of(dice.any(seeds_))));
      break;
    default:
      if (dice.once_in(50)) lines.insert(position, alias_bomb(dice));
  }
  text = joined(lines);
}

/// Nests, quotes or anchors a value, or repeats it many times.
void Mutator::wrap_token(std::string& text, Dice& dice) const {
  static constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"[", "]"}, {"{", "}"}, {"(", ")"}, {"\"", "\""}, {"'", "'"}, {"{a: ", "}"}, {"{\"a\": ", "}"}, {"&a ", ""}};
  std::vector<std::string> tokens = tokens_of(text);
  if (tokens.empty()) return;
  std::string& token = tokens[dice.below(tokens.size())];
  const auto& [open, close] = dice.any(kPairs);
  const std::size_t times = dice.once_in(20) ? dice.below(5000) : dice.once_in(4) ? dice.below(200) : 1;
  if (dice.once_in(8)) {
    token = repeated(token, times);
  } else {
    token = repeated(open, times) + token + repeated(close, dice.once_in(10) ? 0 : times);
  }
  text = joined(tokens);
}

}  // namespace tune::fuzz

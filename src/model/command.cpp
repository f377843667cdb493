#include "model/command.h"

#include <algorithm>
#include <functional>

namespace tune {
namespace {

constexpr std::string_view kFirst = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
constexpr std::string_view kLater = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-.+/@%";

bool is_plain_in_shell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

/// The name between braces that begin at text[at]; empty if there is none.
std::string_view name_at(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '{' || kFirst.find(text[at + 1]) == kFirst.npos) return {};
  const std::size_t end = text.find_first_not_of(kLater, at + 1);
  if (end == text.npos || text[end] != '}') return {};
  return text.substr(at + 1, end - at - 1);
}

/// Whether `{{name}}` begins at text[at].
bool is_escaped(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "{{") return false;
  const std::string_view name = name_at(text, at + 1);
  return !name.empty() && text.substr(at + name.size() + 2, 2) == "}}";
}

std::string always_quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

using Spelling = std::function<std::string(const std::string&)>;

std::string joined(const Words& words, const Spelling& spelling) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : " ") + spelling(words[i]);
  return text;
}

/// In one pass: what a placeholder stands for is never searched for placeholders.
std::string replace(std::string_view text, const Placeholders& placeholders, const Spelling& spelling) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool of_shell = i > 0 && text[i - 1] == '$';
    const bool escaped = !of_shell && is_escaped(text, i);
    const std::string_view name = of_shell ? std::string_view() : name_at(text, i + (escaped ? 1 : 0));
    const auto known = placeholders.find(name);
    if (escaped) {
      result += text.substr(i + 1, name.size() + 2);
      i += name.size() + 3;
    } else if (known != placeholders.end()) {
      result += joined(known->second, spelling);
      i += name.size() + 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<Placeholder> placeholders_of(std::string_view text) {
  std::vector<Placeholder> found;
  for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    if (at > 0 && text[at - 1] == '$') continue;
    if (is_escaped(text, at)) {
      ++at;
    } else if (const std::string_view name = name_at(text, at); !name.empty()) {
      found.push_back({at, std::string(name)});
    }
  }
  return found;
}

bool is_placeholder_name(std::string_view text) {
  return !text.empty() && kFirst.find(text.front()) != kFirst.npos && text.find_first_not_of(kLater) == text.npos;
}

bool uses(const Words& command, std::string_view name) {
  return std::ranges::any_of(command, [&](const std::string& word) {
    const auto found = placeholders_of(word);
    return std::ranges::find(found, name, &Placeholder::name) != found.end();
  });
}

Words expand_command(const Words& command, bool is_shell, const Placeholders& placeholders) {
  if (is_shell) return {"/bin/sh", "-c", replace(command.front(), placeholders, always_quoted)};
  Words argv;
  for (const std::string& word : command) {
    const std::string_view name = name_at(word, 0);
    const auto known = placeholders.find(name);
    if (known != placeholders.end() && name.size() + 2 == word.size())
      argv.insert(argv.end(), known->second.begin(), known->second.end());
    else
      argv.push_back(replace(word, placeholders, std::identity()));
  }
  return argv;
}

std::string shell_quote(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, is_plain_in_shell) ? std::string(word) : always_quoted(word);
}

std::string typed_line(const Words& argv) { return joined(argv, shell_quote); }

std::string shown_command(const CommandLine& command) {
  if (command.is_shell) return command.words.front();
  return joined(command.words, [](const std::string& word) {
    std::string plain = word;
    std::erase_if(plain, [](char c) { return c == '{' || c == '}'; });
    return !plain.empty() && shell_quote(plain) == plain ? word : shell_quote(word);
  });
}

}  // namespace tune

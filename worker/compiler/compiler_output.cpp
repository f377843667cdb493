#include "compiler/compiler_output.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <regex>
#include <utility>

#include "platform/files/file.h"

namespace tune::worker {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kDetail = 1500;  // bytes of compiler output in a failure's text; all of it is in the log
constexpr std::size_t kLongestLine = 2000;

// GCC's compiler proper, the linker below GCC, and a part of Clang.
constexpr std::array<std::string_view, 3> kKilledPart = {
    "fatal error: Killed signal terminated program ",
    " terminated with signal 9 [Killed]",
    "error: unable to execute command: Killed",
};
constexpr std::array<std::pair<std::string_view, int>, 2> kNoRoom = {
    {{"No space left on device", ENOSPC}, {"Disk quota exceeded", EDQUOT}}};

// What programs say only because another one has failed, after that one has said why.
constexpr std::array<std::string_view, 6> kConsequences = {"ld returned ",    "linker command failed",
                                                           "aborted due to ", "could not compile ",
                                                           "errors emitted",  "Assembler messages:"};
// What linkers say after the name of an object file and a place in it.
constexpr std::array<std::string_view, 4> kOfLinkers = {
    "undefined reference to ", "undefined symbol: ", "multiple definition of ", "cannot find -l"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

template <typename Parts>
bool contains_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(text, part); });
}

std::string_view line_of(std::string_view text) { return text.substr(0, text.find('\n')); }

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `error:`, `error   :` (ptxas), `error #20:`, `error[E0425]:` and `NameError:`, but not `std::system_error::`.
bool speaks_of_error(std::string_view line) {
  static const std::regex code("( ?[#\\[A-Z][#A-Za-z0-9-]*\\]?)? *:($|[^:])");
  for (const std::string_view word : {"error", "Error", "fatal"})
    for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
      const bool own_word = at == 0 || !is_letter(line[at - 1]);
      const std::string_view after = line.substr(at + word.size());
      if ((own_word || word == "Error") &&
          std::regex_search(after.begin(), after.end(), code, std::regex_constants::match_continuous))
        return true;
    }
  return false;
}

// `/usr/bin/ld: x.o: in function ...` only says where the next line's error is.
bool is_of_linker(std::string_view line) {
  if (contains_any(line, kOfLinkers)) return true;
  const std::string_view program = line.substr(0, line.find(": "));
  const std::string_view name = program.substr(program.find_last_of("/-") + 1);
  return (name == "ld" || name.starts_with("ld.")) && program != line && !contains(line, "in function ");
}

bool says_what_is_wrong(std::string_view line) {
  if (contains(line, "warning:") || contains_any(line, kConsequences)) return false;
  return speaks_of_error(line) || is_of_linker(line);
}

void erase_all(std::string& text, const std::string& part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at)) text.erase(at, part.size());
}

// Words such as /tmp/ccX1Y2.s:21: are erased with the blank behind them.
void erase_words_in(std::string& text, const std::string& folder) {
  for (auto at = text.find(folder); at != text.npos; at = text.find(folder, at)) {
    const auto end = std::min(text.find_first_of(" \t'`\"", at), text.size());
    const bool with_blank = end < text.size() && text[end] == ' ';
    text.erase(at, end - at + (with_blank ? 1 : 0));
  }
}

void erase_folders(std::string& text, const BuildFolders& folders) {
  // The longer name first: either folder may lie in the other.
  std::vector<std::pair<std::string, bool>> names = {{folders.source.string() + "/", false}};
  for (const auto& folder : folders.temporary) names.emplace_back(folder.string() + "/", true);
  std::ranges::sort(names, std::ranges::greater(), [](const auto& name) { return name.first.size(); });
  for (const auto& [name, temporary] : names) {
    if (name == "/") continue;
    if (temporary)
      erase_words_in(text, name);
    else
      erase_all(text, name);
  }
}

std::string in_source(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : mangled;
}

/// The text with each match of `pattern` replaced by what `with` makes of it.
template <typename With>
std::string replaced(const std::string& text, const std::regex& pattern, const With& with) {
  std::string result;
  auto from = text.begin();
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    result.append(from, text.begin() + match->position());
    result += with(match->str());
    from = text.begin() + match->position() + match->length();
  }
  return result.append(from, text.end());
}

// What ptxas says of resources is no part of an error, and neither is what follows from it.
std::string without_statistics(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = line_of(text);
    const bool statistics = line.starts_with("ptxas info") || line.starts_with("ptxas  ");
    if (!statistics && !line.empty() && !contains_any(line, kConsequences)) result += fmt::format("\n{}", line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return result;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

/// The text without the line breaks that a backslash hides.
std::string joined(std::string_view text) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\\n")
      ++i, lines += ' ';
    else
      lines += text[i];
  }
  return lines;
}

/// The files that rules of make name behind their colons, each once, as they are written.
// In a name, blanks and `#` have a backslash in front, and `$` is doubled.
std::vector<std::string> prerequisites_in(std::string_view rules) {
  const std::string text = joined(rules) + "\n";
  std::vector<std::string> files;
  std::string word;
  bool behind_colon = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\n';
    const bool escaped = (c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$');
    if (escaped || std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += escaped ? text[++i] : c;
      continue;
    }
    if (behind_colon && !word.empty() && std::ranges::find(files, word) == files.end()) files.push_back(word);
    behind_colon = c != '\n' && (behind_colon || word.ends_with(':'));
    word.clear();
  }
  return files;
}

}  // namespace

FailureFacts facts_of_build(const platform::Exit& exit, std::string_view output) {
  FailureFacts facts = facts_of_end(exit.code, exit.signal);
  if (contains_any(output, kKilledPart)) facts.machine_suspected = true;
  return facts;
}

int room_error_of_build(std::string_view output) {
  for (const auto& [words, error] : kNoRoom)
    if (contains(output, words)) return error;
  return 0;
}

CompilerError first_error(std::string_view output) {
  while (!output.empty()) {
    const std::string_view line = line_of(output);
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (says_what_is_wrong(line)) return {line, output};
  }
  return {};
}

std::string shown_error(std::string_view line, const BuildFolders& folders) {
  static const std::regex mangled("\\b_Z\\w+"), size("\\b0x[0-9a-f]{1,15} (bytes|max)\\b"), padded("(error|fatal) +:");
  std::string text(line.substr(0, kLongestLine));
  if (!speaks_of_error(line))
    for (const std::string_view words : kOfLinkers)
      if (const auto at = text.find(words); at != text.npos) text.erase(0, at);
  erase_folders(text, folders);
  text = replaced(text, mangled, in_source);
  text = replaced(text, size, [](const std::string& hexadecimal) {
    const auto blank = hexadecimal.find(' ');
    return std::to_string(std::stoull(hexadecimal.substr(0, blank), nullptr, 16)) + hexadecimal.substr(blank);
  });
  return std::regex_replace(text, padded, "$1:");
}

std::string message_with(std::string_view line, std::string_view rest) {
  const std::string detail = without_statistics(rest);
  return fmt::format("{}{}{}", line, detail.substr(0, kDetail), detail.size() > kDetail ? "\n[more in the log]" : "");
}

constexpr const char* kAdviceOnUnroll =
    "this compiler expands no macro in this line; '#define DO(x) _Pragma(#x)', '#define UNROLL_BY(n) DO(GCC unroll "
    "n)' and then 'UNROLL_BY(UNROLL)' help";

std::string advice_on_macro(const std::string& error) {
  // Not the macros of C's own headers. In a locale with UTF-8, GCC's quotes are not those of ASCII.
  static const std::regex unknown(
      "(?:identifier \"|undeclared identifier '|(?:'|\u2018)(?=\\w+(?:'|\u2019) (?:was not declared|undeclared)))"
      "(?!M_|INFINITY|NAN|NULL|\\w+_(?:MAX|MIN)\\b)([A-Z][A-Z0-9_]*)\\b");
  std::smatch match;
  if (!std::regex_search(error, match, unknown)) return "";
  return fmt::format(
      "if the tuning file is to define {0}, add it to 'params:', such as {0}: [1, 2], or to "
      "'build: {{defines: [...]}}' if it is a size",
      match.str(1));
}

std::string message_of_build(std::string_view output, const BuildFolders& folders, const std::string& otherwise,
                             Advice& advice) {
  const CompilerError error = first_error(output);
  if (error.line.empty()) return message_with(otherwise, output);
  const std::string line = shown_error(error.line, folders);
  std::string helps = advice(line);
  const bool is_about_macro = !helps.empty() && helps == advice_on_macro(line);
  if (is_about_macro && contains(line_of(error.rest), "#pragma GCC unroll ")) helps = kAdviceOnUnroll;
  return message_with(helps.empty() ? line : line + "; " + helps, error.rest);
}

std::vector<std::string> files_read(const fs::path& rules, const fs::path& folder, const fs::path& ours) {
  std::error_code ignored;
  if (!fs::is_regular_file(rules, ignored)) return {};
  const fs::path passing[] = {"/usr", "/opt", fs::weakly_canonical(rules.parent_path(), ignored),
                              fs::weakly_canonical(fs::temp_directory_path(), ignored),
                              fs::weakly_canonical(ours.empty() ? "/usr" : ours, ignored)};
  std::vector<std::string> files;
  for (const std::string& name : prerequisites_in(platform::read_file(rules))) {
    const fs::path file = fs::weakly_canonical(folder / name, ignored);
    if (std::ranges::none_of(passing, [&](const fs::path& one) { return is_below(file, one); }))
      files.push_back(file.string());
  }
  fs::remove(rules, ignored);
  return files;
}

}  // namespace tune::worker

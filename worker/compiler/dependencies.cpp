#include "compiler/dependencies.h"

#include <algorithm>
#include <cctype>

#include "platform/files/file.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

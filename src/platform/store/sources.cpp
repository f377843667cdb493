#include "platform/store/sources.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

#include "platform/store/store.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

/// What an `#include` names.
struct Included {
  std::string_view header;  ///< empty: nothing, or a macro
  bool by_macro = false;
};

Included included_by(std::string_view line) {
  const auto skip = [&line](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool found = line.starts_with(word);
    if (found) line.remove_prefix(word.size());
    return found;
  };
  if (!skip("#") || !(skip("include_next") || skip("include"))) return {};
  const char close = skip("\"") ? '"' : skip("<") ? '>' : '\0';
  if (close == '\0')
    return {{}, !line.empty() && (std::isalpha(static_cast<unsigned char>(line[0])) || line[0] == '_')};
  const std::size_t end = line.find(close);
  return {end == std::string_view::npos ? std::string_view() : line.substr(0, end)};
}

/// Where links lead to. The path itself if that cannot be found out, as of a name that is too long.
fs::path resolved(const fs::path& path) {
  std::error_code unknown;
  fs::path found = fs::weakly_canonical(path, unknown);
  return unknown ? path : found;
}

/// The files a source stands for: itself and the headers that resolve, each once.
class Closure {
 public:
  Closure(const fs::path& source, const HeaderSearch& search) : folders_(search.folders) {
    folders_.push_back(source.parent_path());
    own_.push_back(resolved(source).parent_path());
    for (const fs::path& folder : search.own) own_.push_back(resolved(folder));
    visit(source);
    for (const std::string& header : search.included) visit_all(header, search.working_folder);
  }
  Sources take() { return std::move(sources_); }

 private:
  void visit(const fs::path& path) {
    const fs::path file = resolved(path);
    if (sources_.texts.contains(file)) return;
    const std::string& text = sources_.texts[file] = sources_.files.read(path);
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const Included included = included_by(line);
      if (!included.header.empty()) visit_all(included.header, file.parent_path());
      if (included.by_macro && sources_.macro_include.empty() && is_own(file))
        sources_.macro_include = file.filename().string() + ":" + std::to_string(number);
    }
  }

  bool is_own(const fs::path& file) const {
    return std::ranges::any_of(
        own_, [&](const fs::path& folder) { return std::ranges::mismatch(folder, file).in1 == folder.end(); });
  }

  void visit_all(std::string_view header, const fs::path& beside) {
    if (sources_.files.finds(beside / header)) visit(beside / header);
    for (const fs::path& folder : folders_)
      if (sources_.files.finds(folder / header)) visit(folder / header);
  }

  std::vector<fs::path> folders_, own_;
  Sources sources_;
};

}  // namespace

Sources read_sources(const fs::path& source, const HeaderSearch& search) { return Closure(source, search).take(); }

SourceHash hash_sources(const fs::path& source, const HeaderSearch& search) {
  Hash hash;
  Sources sources = read_sources(source, search);
  // File names without folders: the same sources elsewhere are the same build.
  for (const auto& [path, text] : sources.texts) hash.add(path.filename().string()).add(text);
  SourceHash result{hash.hex(), std::move(sources.macro_include), "", std::move(sources.files)};
  Hash named;
  for (const fs::path& file : search.named) named.add(file.filename().string()).add(result.files.identity(file));
  if (!search.named.empty()) result.named = named.hex();
  return result;
}

}  // namespace tune::platform

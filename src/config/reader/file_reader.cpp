#include "config/reader/file_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "model/command.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

/// Those that run kernels, in the order in which they are preferred.
std::vector<std::string_view> names_for_kernels() {
  std::vector<std::string_view> names;
  for (const BackendTraits& traits : backends())
    if (!is_program(traits.backend)) names.push_back(traits.name);
  return names;
}

/// `cuda, hip or cpu`.
std::string shown_names_for_kernels() {
  const std::vector<std::string_view> names = names_for_kernels();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// A path as it is written, cut into texts and the names of variables.
struct Piece {
  std::string text;
  bool is_name;
};

std::vector<Piece> pieces_of(const std::string& text) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < text.size();) {
    const bool braced = text.compare(i, 2, "${") == 0;
    const std::size_t begin = i + (braced ? 2 : 1);
    std::size_t end = begin;
    while (text[i] == '$' && end < text.size() && is_identifier(text.substr(begin, end + 1 - begin))) ++end;
    if (text[i] != '$' || end == begin || (braced && (end == text.size() || text[end] != '}'))) {
      pieces.push_back({text.substr(i, 1), false});
      i += text.compare(i, 2, "$$") == 0 ? 2 : 1;
    } else {
      pieces.push_back({text.substr(begin, end - begin), true});
      i = end + (braced ? 1 : 0);
    }
  }
  return pieces;
}

std::string expand(const std::string& text, const Place& place, Diagnostics& diagnostics) {
  std::string expanded;
  for (const auto& [piece, is_name] : pieces_of(text)) {
    const char* value = is_name ? std::getenv(piece.c_str()) : piece.c_str();
    if (value == nullptr)
      diagnostics.add(
          place, fmt::format("environment variable '{}' in '{}' is not set; set it, or write $$ for a $", piece, text));
    else
      expanded += value;
  }
  return expanded;
}

class FileReader {
 public:
  FileReader(const Fields& top, const std::filesystem::path& folder, const LoadRules& rules, Plan& plan)
      : top_(&top), folder_(folder), rules_(&rules), plan_(&plan), diagnostics_(&top.diagnostics()) {}

  FileSection read() {
    const Backend wanted = read_wanted();
    const bool kernel_mode = top_->find("kernel") != nullptr;
    if (!kernel_mode && top_->find("file") == nullptr && top_->find("run") != nullptr) {
      section_.is_command = true;
      section_.backend = program_backend(*top_->find("run"), wanted);
      return section_;
    }
    const Node* file = top_->require("file");
    if (file == nullptr) return section_;
    const Node* chosen = file->is_mapping() ? choose(*file, wanted) : file;
    if (chosen != nullptr && chosen->is_list())
      read_candidates(*chosen, kernel_mode);
    else if (chosen != nullptr)
      read_path(*chosen);
    section_.backend = kernel_mode ? kernel_backend(*file, wanted) : program_backend(*file, wanted);
    return section_;
  }

 private:
  Backend read_wanted() {
    if (rules_->backend) return *rules_->backend;
    const Node* node = top_->find("backend");
    if (node == nullptr) return Backend::automatic;
    if (!read_choice(*node, "backend", backend_names(), *diagnostics_)) return Backend::automatic;
    return *parse_backend(node->text);
  }

  bool present(Backend backend) const { return !rules_->present || rules_->present(backend); }

  /// The source of a mapping of sources.
  const Node* choose(const Node& node, Backend wanted) {
    Fields files(node, "file", names_for_kernels(), *diagnostics_);
    std::string named;
    for (const std::string_view name : names_for_kernels()) {
      const Node* file = files.find(name);
      if (file == nullptr) continue;
      const Backend backend = *parse_backend(name);
      named += fmt::format("{}{}", named.empty() ? "" : ", ", name);
      const bool open = wanted == Backend::automatic || is_program(wanted);
      const bool eligible = open ? present(backend) : wanted == backend;
      if (chosen_ == nullptr && eligible) {
        chosen_ = file;
        chosen_backend_ = backend;
      } else {
        section_.others.push_back(backend);
      }
    }
    if (chosen_ == nullptr && !named.empty()) complain_of_absence(node, wanted, named);
    return chosen_;
  }

  void complain_of_absence(const Node& node, Backend wanted, const std::string& named) {
    if (wanted != Backend::automatic && !is_program(wanted)) {
      diagnostics_->add(node.place,
                        fmt::format("file has no source for backend {}; it has {}", to_text(wanted), named));
      return;
    }
    diagnostics_->throw_if_any();
    throw Error(ExitCode::environment,
                fmt::format("{}: no backend of file is present here ({}); choose one with --backend",
                            to_text(node.place), named));
  }

  void read_path(const Node& node) {
    if (!read_text(node, "file", *diagnostics_)) return;
    plan_->file_as_written = node.text;
    plan_->file = resolve(node, folder_, *diagnostics_);
    std::error_code error;
    if (rules_->file_must_exist && !std::filesystem::is_regular_file(plan_->file, error)) {
      diagnostics_->add(node.place,
                        fmt::format("no such file: '{}' (looked for {}){}", node.text, plan_->file.string(),
                                    placeholders_of(node.text).empty()
                                        ? ""
                                        : "; placeholders are replaced in run, prepare and cleanup, not in file"));
    }
  }

  /// Of a list. They are built alike, so they are in one language.
  void read_candidates(const Node& list, bool kernel_mode) {
    if (!kernel_mode)
      diagnostics_->add(list.place,
                        "several files need 'kernel:'; of programs, make the name a parameter, as in run: [python3, "
                        "'{script}'] and params: {script: [a.py, b.py]}");
    if (list.items.empty()) diagnostics_->add(list.place, "file names no source");
    for (const Node& item : list.items) {
      read_path(item);
      const bool is_known =
          std::ranges::find(plan_->candidates, plan_->file, &CandidateFile::path) != plan_->candidates.end();
      if (is_known) diagnostics_->add(item.place, fmt::format("file names '{}' more than once", item.text));
      plan_->candidates.push_back({item.text, plan_->file});
      if (plan_->file.extension() != plan_->candidates.front().path.extension())
        diagnostics_->add(item.place, fmt::format("'{}' and '{}' are not in one language; all files of a list are",
                                                  plan_->candidates.front().name, item.text));
    }
    if (plan_->candidates.empty()) return;
    name_candidates();
    plan_->file = plan_->candidates.front().path;
    plan_->file_as_written.clear();
    for (const Node& item : list.items)
      plan_->file_as_written += (plan_->file_as_written.empty() ? "" : ", ") + item.text;
    if (plan_->candidates.size() == 1) plan_->candidates.clear();
  }

  /// Calls each by its last names, as many as it takes to tell all apart: these stay the same in another folder.
  void name_candidates() {
    for (std::ptrdiff_t length = 1;; ++length) {
      std::set<std::string> names;
      bool whole = true;
      for (CandidateFile& file : plan_->candidates) {
        const std::ptrdiff_t all = std::distance(file.path.begin(), file.path.end());
        std::filesystem::path name;
        for (auto part = std::next(file.path.begin(), std::max<std::ptrdiff_t>(0, all - length));
             part != file.path.end(); ++part)
          name /= *part;
        file.name = name.string();
        names.insert(file.name);
        whole = whole && length >= all;
      }
      if (whole || names.size() == plan_->candidates.size()) return;
    }
  }

  std::optional<Backend> kernel_backend(const Node& file, Backend wanted) {
    if (is_program(wanted)) {
      diagnostics_->add(top_->find("kernel")->place,
                        "backend program runs whole programs; remove 'kernel' or the backend");
      return {};
    }
    if (file.is_mapping()) return chosen_ != nullptr ? std::optional(chosen_backend_) : std::nullopt;
    if (wanted != Backend::automatic) return wanted;
    const std::optional<Backend> backend = backend_of_source(plan_->file);
    if (!backend && !plan_->file.empty()) {
      diagnostics_->add(
          file.place, fmt::format("cannot tell the backend of '{}' by its suffix; set backend: {}, or remove 'kernel' "
                                  "to run it as a program",
                                  plan_->file_as_written, shown_names_for_kernels()));
    }
    return backend;
  }

  std::optional<Backend> program_backend(const Node& file, Backend wanted) {
    if (wanted == Backend::automatic || is_program(wanted) || file.is_mapping()) return Backend::program;
    const Node* node = rules_->backend ? &file : top_->find("backend");
    diagnostics_->add(node->place,
                      fmt::format("backend {} needs 'kernel:', the kernel's name; without it the file is run "
                                  "as a program",
                                  to_text(wanted)));
    return {};
  }

  const Fields* top_;
  std::filesystem::path folder_;
  const LoadRules* rules_;
  Plan* plan_;
  Diagnostics* diagnostics_;
  FileSection section_;
  const Node* chosen_ = nullptr;
  Backend chosen_backend_ = Backend::automatic;
};

}  // namespace

FileSection read_file_section(const Fields& top, const std::filesystem::path& folder, const LoadRules& rules,
                              Plan& plan) {
  return FileReader(top, folder, rules, plan).read();
}

std::filesystem::path join(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const std::filesystem::path joined = (folder / path).lexically_normal();
  return joined.has_filename() ? joined : joined.parent_path();
}

std::string without_references(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '$' ? "$$" : std::string(1, c);
  return text;
}

std::optional<std::string> literal_path(const std::string& text) {
  std::string path;
  for (const auto& [piece, is_name] : pieces_of(text)) {
    if (is_name) return std::nullopt;
    path += piece;
  }
  return path;
}

std::filesystem::path resolve(const Node& node, const std::filesystem::path& folder, Diagnostics& diagnostics) {
  return join(folder, expand(node.text, node.place, diagnostics));
}

}  // namespace tune::config

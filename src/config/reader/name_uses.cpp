#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "config/reader/file_reader.h"
#include "config/reader/source.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "model/device_setting.h"
#include "model/program.h"
#include "model/values/error.h"
#include "model/values/text.h"
#include "platform/store/sources.h"

namespace tune::config {
namespace {

/// How a name may stand in a text: as a word, or also before `_` in a word, as macros of pairs and texts do.
enum class As { word, beginning };

bool mentions(std::string_view text, std::string_view name, As how) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool ends = end == text.size() || !is_of_identifier(text[end]) || (how == As::beginning && text[end] == '_');
    if (ends && (at == 0 || !is_of_identifier(text[at - 1]))) return true;
  }
  return false;
}

/// A text in C, C++ or CUDA without its comments.
std::string without_comments(std::string_view text) {
  std::string code;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view rest = text.substr(i);
    if (quote == '\0' && (rest.starts_with("//") || rest.starts_with("/*"))) {
      const bool line = rest[1] == '/';
      const std::size_t end = line ? rest.find('\n') : rest.find("*/", 2);
      code += line ? '\n' : ' ';
      i += std::min(end, rest.size()) + (line ? 0 : 1);
      continue;
    }
    const bool separates_digits = c == '\'' && i > 0 && is_of_identifier(text[i - 1]);
    if (quote == '\0' && (c == '"' || c == '\'') && !separates_digits)
      quote = c;
    else if (c == quote || c == '\n')
      quote = '\0';
    code += c;
    if (quote != '\0' && c == '\\' && i + 1 < text.size()) code += text[++i];
  }
  return code;
}

/// Whether `##` can make the name of these words and of numbers.
bool is_composed_of(std::string_view name, const std::set<std::string, std::less<>>& words) {
  std::vector<bool> reached(name.size() + 1);  // whether so many characters can be composed
  reached[0] = true;
  for (std::size_t end = 1; end <= name.size(); ++end) {
    const bool digit = std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0;
    for (std::size_t begin = 0; begin < end && !reached[end]; ++begin)
      reached[end] = reached[begin] && ((digit && begin + 1 == end) || words.contains(name.substr(begin, end - begin)));
  }
  return reached.back();
}

/// Everything in which the name of a parameter has an effect.
class Uses {
 public:
  Uses(const Plan& plan, const Source& source) : plan_(&plan), source_(&source) {
    for (const FileKey& key : file_keys())
      if (const Node* node = key.may_use_names ? source.root.find(key.name) : nullptr) collect(*node);
    if (const ProgramPlan* program = plan.program())
      for (const Words* around : {&program->prefix, &program->suffix})
        texts_.insert(texts_.end(), around->begin(), around->end());
    const Node* let = source.root.find("let");
    if (let == nullptr) return;
    for (auto entry = let->entries.rbegin(); entry != let->entries.rend(); ++entry)
      if (has(entry->key.text, false, As::beginning)) collect(entry->value);
  }

  /// `in_source`: how a name stands in the source.
  bool has(const std::string& name, bool run_time, As in_source) {
    const auto mentions_name = [&](const std::string& text) { return mentions(text, name, As::word); };
    if (is_argument(run_time) || std::ranges::any_of(texts_, mentions_name)) return true;
    return !run_time && is_built(*plan_) && may_be_in_source(name, in_source);
  }

  bool may_be_in_source(const std::string& name, As in_source) {
    read_sources();
    return !all_known_ || (composes_names_ && is_composed_of(name, words_)) ||
           std::ranges::any_of(sources_, [&](const std::string& text) { return mentions(text, name, in_source); });
  }

 private:
  void collect(const Node& node) {
    if (node.is_scalar()) texts_.push_back(node.text);
    for (const Node& item : node.items) collect(item);
    for (const Entry& entry : node.entries)
      if (entry.key.text != "because") collect(entry.value);
  }

  /// Whether `{args}` gives it to a program.
  bool is_argument(bool run_time) const {
    if (!plan_->is_program()) return false;
    const Words& run = plan_->program()->run.words;
    const bool has_args =
        std::ranges::any_of(run, [](const std::string& word) { return word.find("{args}") != word.npos; });
    return (run_time || !is_built(*plan_)) && (run.empty() || has_args);
  }

  void read_sources() {
    if (read_) return;
    read_ = true;
    for (const std::string& flag : plan_->build.flags) add_text(flag);  // -DTILE=BM
    for (const std::filesystem::path& file : files()) read_source(file);
  }

  /// The sources for all backends: a name that only another one uses is used.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files = plan_->build.depends;
    std::ranges::copy(files_of(*plan_), std::back_inserter(files));
    const Node* file = source_->root.find("file");
    Diagnostics reported;
    for (const Entry& entry : file != nullptr ? file->entries : std::vector<Entry>())
      if (entry.value.is_scalar()) files.push_back(resolve(entry.value, source_->folder, reported));
    return files;
  }

  void read_source(const std::filesystem::path& file) try {
    const platform::Sources sources =
        platform::read_sources(file, platform::header_search(plan_->build, plan_->backend(), file));
    std::error_code ignored;  // an empty folder has all files
    const std::string folder = std::filesystem::weakly_canonical(file, ignored).parent_path().string();
    all_known_ = all_known_ && sources.macro_include.empty();
    for (const auto& [path, text] : sources.texts) {
      add_text(language_of(file) ? without_comments(text) : text);
      const bool composes_names = sources_.back().find("##") != std::string::npos;
      if (composes_names && path.string().starts_with(folder)) composes_names_ = true;
    }
  } catch (const Error&) {  // it cannot be read, which matters to who builds it
    all_known_ = false;
  }

  void add_text(const std::string& text) {
    sources_.push_back(text);
    for (const std::string_view word : words_in(text)) words_.emplace(word);
  }

  const Plan* plan_;
  const Source* source_;
  std::vector<std::string> texts_;    ///< of the tuning file
  std::vector<std::string> sources_;  ///< without comments, and the compiler's flags
  std::set<std::string, std::less<>> words_;
  bool read_ = false;
  bool all_known_ = true;
  bool composes_names_ = false;  ///< a source composes names with `##`
};

/// The parameters of which names are composed in the source.
std::set<std::string> composed_names(const Plan& plan) {
  const auto is_composed = [](const Value& value) {
    return std::holds_alternative<Pair>(value) || std::holds_alternative<std::string>(value);
  };
  std::set<std::string> names;
  for (const Space::Mapping& mapping : plan.space.mappings())
    for (const Parameter& parameter : mapping.parameters)
      if (std::ranges::any_of(parameter.values, is_composed)) names.insert(parameter.name);
  return names;
}

std::string complaint(const Plan& plan, const std::string& name, bool run_time) {
  if (run_time)
    return fmt::format(
        "nothing uses the parameter '${0}': a value with $ is no macro of the source, and neither launch "
        "nor a constraint names {0}; remove it, or correct its name",
        name);
  return fmt::format(
      "nothing uses the parameter '{}': neither {} nor an expression of the tuning file names it; remove "
      "it, or correct its name",
      name, plan.file.filename().string());
}

}  // namespace

void warn_of_unused_parameters(const Plan& plan, const Source& source, Diagnostics& diagnostics) {
  const Node* params = source.root.find("params");
  if (params == nullptr) return;
  Uses uses(plan, source);
  const std::set<std::string> composed = composed_names(plan);
  std::set<std::string> seen;
  for (const Node* mapping : as_list(*params)) {
    for (const Entry& entry : mapping->entries) {
      const std::string& key = entry.key.text;
      const bool run_time = key.starts_with('$');
      const std::string name = bare_name(key);
      const bool ignored =
          name == "file" || is_of_a_device(name) || (params->is_list() && name == "metadata");  // kbench
      const As in_source = composed.contains(name) ? As::beginning : As::word;
      if (ignored || !seen.insert(name).second || uses.has(name, run_time, in_source)) continue;
      diagnostics.warn(entry.key.place, complaint(plan, name, run_time));
    }
  }
}

std::vector<std::string> values_not_in_source(const Plan& plan, const Source& source) {
  std::vector<std::string> names;
  const Node* let = source.root.find("let");
  if (let == nullptr || plan.is_command()) return names;
  Uses source_uses(plan, source);
  for (const Entry& entry : let->entries) {
    // Programs may take their definitions as they come; what `run` gives them they know in another way.
    const bool may_be_left_out = !plan.is_program() || uses(plan.program()->run.words, entry.key.text);
    if (may_be_left_out && !source_uses.may_be_in_source(entry.key.text, As::beginning))
      names.push_back(entry.key.text);
  }
  return names;
}

}  // namespace tune::config

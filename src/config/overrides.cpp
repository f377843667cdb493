#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "config/fields.h"
#include "config/source.h"
#include "config/values.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

Place command_line(const std::string& option) { return {std::make_shared<const std::string>(option), 0, 0}; }

constexpr std::array<std::string_view, 14> kGemmKeys = {"m",   "n", "k", "batch", "lda",      "ldb",      "ldc",
                                                        "acc", "a", "b", "c",     "stride_a", "stride_b", "stride_c"};
/// The names of tune_gemm; a program that does not have them among its parameters gets them anyway.
constexpr std::array<std::string_view, 5> kProgramNames = {"M", "N", "K", "rowMajorA", "rowMajorB"};

template <class Array>
bool contains(const Array& array, std::string_view name) {
  return std::ranges::find(array, name) != array.end();
}

std::string upper(const std::string& letter) {
  return std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(letter[0]))));
}

std::string bare(const std::string& name) { return name.substr(name.starts_with('$') ? 1 : 0); }

/// Whether the values that are written here are pairs.
bool has_pairs(const Node& written) {
  const Node* values = written.is_mapping() ? written.find("values") : &written;
  return values != nullptr && values->is_list() && !values->items.empty() &&
         std::ranges::all_of(values->items, is_scalar_pair);
}

/// Replaces the parameter in a mapping, keeping its key as it is written there, or adds it.
void set_in_mapping(Node& mapping, const std::string& name, const Node& value) {
  for (Entry& entry : mapping.entries) {
    if (bare(entry.key.text) != bare(name)) continue;
    entry.value = has_pairs(entry.value) && is_scalar_pair(value) ? list_of(value) : value;
    return;
  }
  mapping.set(name, value);
}

class Overrider {
 public:
  Overrider(Node& root, Problems& problems)
      : root_(&root), problems_(&problems), declares_(!parameter_names().empty()) {
    Node* problem = root.find("problem");
    if (problem == nullptr) return;
    gemm_ = problem->find("gemm");
    custom_ = problem->find("custom");
  }

  void set_parameter(const std::string& name, const Node& value) {
    for (Node* mapping : parameter_mappings(*root_)) set_in_mapping(*mapping, name, value);
  }

  /// --param: the parameter must be declared, unless none is.
  void replace_parameter(const Entry& entry, const std::string& text) {
    const std::string name = bare(entry.key.text);
    if (has_parameter(name) || !declares_) return set_parameter(entry.key.text, entry.value);
    if (gemm_ != nullptr && (name == "m" || name == "n" || name == "k")) {
      problems_->add(entry.key.place, fmt::format("'{0}' is a size of the problem; write -{0} SIZE", name));
      return;
    }
    std::vector<std::string> known = parameter_names();
    const std::string nearest = did_you_mean(name, known);
    problems_->add(
        entry.key.place,
        fmt::format("there is no parameter '{}'{} To add it, write --add-param '{}'", name,
                    nearest.empty() ? fmt::format("; the file has {}.", fmt::join(known, ", ")) : nearest, text));
  }

  /// --add-param: the parameter must not be declared.
  void add_parameter(const Entry& entry, const std::string& text) {
    if (has_parameter(bare(entry.key.text))) {
      problems_->add(entry.key.place,
                     fmt::format("the parameter '{}' is declared already; to replace its values, write "
                                 "--param '{}'",
                                 bare(entry.key.text), text));
      return;
    }
    if (root_->find("params") == nullptr) root_->set("params", make_mapping(entry.key.place));
    set_parameter(entry.key.text, entry.value);
  }

  /// -m, -n, -k: `letter` is lower case.
  void set_size(const std::string& letter, std::int64_t size) {
    const Node value = make_scalar(std::to_string(size), command_line("-" + letter));
    const std::string capital = upper(letter);
    if (gemm_ != nullptr) {
      gemm_->set(letter, value);
    } else if (custom_ != nullptr) {
      if (!set_custom_size(letter, value) && !set_custom_size(capital, value)) {
        problems_->add(value.place, fmt::format("the custom problem has no size '{}'; declare it in sizes", letter));
      }
    } else {
      set_parameter(has_parameter(letter) ? letter : capital, value);
    }
  }

  void apply(const Shape& shape) {
    for (std::size_t i = 0; i < shape.settings.size(); ++i) apply(shape.settings[i], shape.places[i]);
    if (gemm_ == nullptr) return;
    for (const char* size : {"m", "n", "k"}) {
      const auto sets = [&](const Setting& setting) { return gemm_key(setting.name) == size; };
      const auto count = std::ranges::count_if(shape.settings, sets);
      if (count == 0) problems_->add(shape.place, fmt::format("a shape of a gemm lacks {}", upper(size)));
      if (count > 1) problems_->add(shape.place, fmt::format("a shape has both {} and {}", upper(size), size));
    }
  }

 private:
  void apply(const Setting& setting, const Place& place) {
    const std::string key = gemm_ != nullptr ? gemm_key(setting.name) : "";
    if (setting.name == "rowMajorA" && gemm_ != nullptr) {
      set_layout("a", setting.value, place);
    } else if (setting.name == "rowMajorB" && gemm_ != nullptr) {
      set_layout("b", setting.value, place);
    } else if (!key.empty()) {
      gemm_->set(key, make_scalar(to_text(setting.value), place));
    } else if (!set_custom_size(setting.name, make_scalar(to_text(setting.value), place))) {
      const bool of_a_program = gemm_ == nullptr && custom_ == nullptr && contains(kProgramNames, setting.name);
      if (!of_a_program && !has_parameter(setting.name))
        problems_->add(place, fmt::format("a shape has '{}', which is neither a size of the problem nor a parameter{}",
                                          setting.name, did_you_mean(setting.name, shape_names())));
      set_parameter((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, place));
    }
  }

  /// What a shape can say.
  std::vector<std::string> shape_names() {
    std::vector<std::string> names;
    if (custom_ == nullptr) names.assign(kProgramNames.begin(), kProgramNames.end());
    if (gemm_ != nullptr) names.insert(names.end(), kGemmKeys.begin(), kGemmKeys.end());
    if (Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr)
      for (const Entry& entry : sizes->entries) names.push_back(entry.key.text);
    const std::vector<std::string> parameters = parameter_names();
    names.insert(names.end(), parameters.begin(), parameters.end());
    return names;
  }

  std::vector<std::string> parameter_names() {
    std::vector<std::string> names;
    for (const Node* mapping : parameter_mappings(*root_))
      for (const Entry& entry : mapping->entries)
        if (std::ranges::find(names, bare(entry.key.text)) == names.end()) names.push_back(bare(entry.key.text));
    return names;
  }

  /// The gemm's key that a name of a shape means, or nothing.
  static std::string gemm_key(const std::string& name) {
    if (name == "M" || name == "N" || name == "K") {
      return std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(name[0]))));
    }
    return contains(kGemmKeys, name) ? name : "";
  }

  void set_layout(const std::string& matrix, const Value& value, const Place& place) {
    const std::string text = to_text(value);
    if (text != "T" && text != "N") {
      problems_->add(place, fmt::format("rowMajor is '{}'; it must be T (row-major) or N", text));
    }
    if (gemm_->find("layout") == nullptr) gemm_->set("layout", make_mapping(place));
    gemm_->find("layout")->set(matrix, make_scalar(text == "T" ? "row" : "col", place));
  }

  bool set_custom_size(const std::string& name, const Node& value) {
    Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr;
    if (sizes == nullptr || sizes->find(name) == nullptr) return false;
    sizes->set(name, value);
    return true;
  }

  bool has_parameter(const std::string& name) {
    return std::ranges::any_of(parameter_mappings(*root_), [&](const Node* mapping) {
      return mapping->find(name) != nullptr || mapping->find("$" + name) != nullptr;
    });
  }

  Node* root_;
  Problems* problems_;
  bool declares_;  ///< the file has parameters
  Node* gemm_ = nullptr;
  Node* custom_ = nullptr;
};

/// Splits NAME:VALUE; the value is YAML.
std::optional<Entry> parse_param(const std::string& option, const std::string& text, Problems& problems) {
  const Place place = command_line(option + " " + text);
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    problems.add(place, "write NAME:VALUE or NAME:[VALUE, VALUE]");
    return {};
  }
  try {
    Node value = parse_yaml(text.substr(colon + 1), *place.file, problems);
    relocate(value, place);
    return Entry{make_scalar(text.substr(0, colon), place), std::move(value)};
  } catch (const Error&) {
    problems.add(
        place,
        fmt::format("'{}' is no YAML value; write NAME:VALUE, NAME:[VALUE, VALUE] or NAME:{{range: [FIRST, LAST]}}",
                    text.substr(colon + 1)));
    return {};
  }
}

void set_run_rules(const LoadOptions& options, Node& root) {
  if (options.shell) root.set("shell", make_scalar("true", command_line("--shell")));
  if (options.whole) root.set("whole", make_scalar("true", command_line("--whole")));
  if (options.prepare) root.set("prepare", make_text(*options.prepare, command_line("--prepare")));
  if (options.cleanup) root.set("cleanup", make_text(*options.cleanup, command_line("--cleanup")));
  if (!options.warmup) return;
  const Place place = command_line("--warmup");
  if (root.find("measure") == nullptr) root.set("measure", make_mapping(place));
  root.find("measure")->set("warmup", make_scalar(std::to_string(*options.warmup), place));
}

}  // namespace

void apply_overrides(const LoadOptions& options, Node& root, Problems& problems) {
  Overrider overrider(root, problems);
  if (options.shape) overrider.apply(*options.shape);
  if (options.m) overrider.set_size("m", *options.m);
  if (options.n) overrider.set_size("n", *options.n);
  if (options.k) overrider.set_size("k", *options.k);
  std::set<std::string> seen;
  const auto parse = [&](const std::string& option, const std::string& text) {
    std::optional<Entry> entry = parse_param(option, text, problems);
    if (!entry || seen.insert(bare(entry->key.text)).second) return entry;
    problems.add(entry->key.place, fmt::format("'{0}' is given twice; write {0}:[VALUE, VALUE]", entry->key.text));
    return std::optional<Entry>();
  };
  for (const std::string& text : options.new_params)
    if (const auto entry = parse("--add-param", text)) overrider.add_parameter(*entry, text);
  for (const std::string& text : options.params)
    if (const auto entry = parse("--param", text)) overrider.replace_parameter(*entry, text);
  set_run_rules(options, root);
}

}  // namespace tune::config

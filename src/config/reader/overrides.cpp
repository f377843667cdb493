#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/foreign/configuration_text.h"
#include "config/reader/problem_reader.h"
#include "config/reader/source.h"
#include "config/yaml/diagnostics.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "config/yaml/values.h"
#include "model/program.h"
#include "model/values/error.h"
#include "model/values/names.h"
#include "model/values/text.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

std::string upper(const std::string& letter) {
  return std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(letter[0]))));
}

/// Whether the values that are written here are pairs.
bool has_pairs(const Node& written) {
  const Node* values = written.is_mapping() ? written.find("values") : &written;
  return values != nullptr && values->is_list() && !values->items.empty() &&
         std::ranges::all_of(values->items, is_scalar_pair);
}

/// Replaces the parameter in a mapping, keeping its key as it is written there, or adds it.
void set_in_mapping(Node& mapping, const std::string& name, const Node& value) {
  if (Entry* entry = find_entry(mapping, bare_name(name)))
    entry->value = has_pairs(entry->value) && is_scalar_pair(value) ? list_of(value) : value;
  else
    mapping.set(name, value);
}

constexpr std::array<std::string_view, 5> kTuneGemmNames = {"M", "N", "K", "rowMajorA", "rowMajorB"};

/// The entries of a tuning file's problem that may be set from outside: those of a gemm, by our names or by tune_gemm's
/// (M, rowMajorA), and the sizes of a custom problem. A program has neither, and no entries.
class ProblemEntries {
 public:
  ProblemEntries(Node& root, Diagnostics& diagnostics) : diagnostics_(&diagnostics) {
    Node* problem = root.find("problem");
    if (problem == nullptr) return;
    gemm_ = problem->find("gemm");
    custom_ = problem->find("custom");
  }

  bool is_gemm() const { return gemm_ != nullptr; }
  bool is_custom() const { return custom_ != nullptr; }

  /// Sets an entry to a value as a user writes it; false: there is none of this name. Reports a value that cannot be.
  bool set(const std::string& name, const std::string& text, const Place& place) {
    return set_gemm(name, to_text(parse_value(text)), place) || set_custom_size(name, text, place);
  }

  /// The names that can be set.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (custom_ == nullptr) names.assign(kTuneGemmNames.begin(), kTuneGemmNames.end());
    if (gemm_ != nullptr) names.insert(names.end(), kGemmKeys.begin(), kGemmKeys.end());
    if (const Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr)
      for (const Entry& entry : sizes->entries) names.push_back(entry.key.text);
    return names;
  }

  /// The gemm's own key for one of its names; empty: it is no such name, or one of a layout.
  static std::string gemm_key(const std::string& name) {
    if (name == "M" || name == "N" || name == "K") return lower_case(name);
    return std::ranges::find(kGemmKeys, name) != kGemmKeys.end() ? name : "";
  }

  /// Whether tune_gemm calls a size or a layout so.
  static bool is_name_of_tune_gemm(const std::string& name) {
    return std::ranges::find(kTuneGemmNames, name) != kTuneGemmNames.end();
  }

 private:
  bool set_gemm(const std::string& name, const std::string& text, const Place& place) {
    if (gemm_ == nullptr) return false;
    const std::string key = gemm_key(name);
    if (name == "rowMajorA" || name == "rowMajorB")
      set_layout(name == "rowMajorA" ? "a" : "b", text, place);
    else if (!key.empty())
      gemm_->set(key, make_scalar(text, place));
    else
      return false;
    return true;
  }

  void set_layout(const std::string& matrix, const std::string& text, const Place& place) {
    if (text != "T" && text != "N") {
      diagnostics_->add(place, fmt::format("rowMajor is '{}'; it must be T (row-major) or N", text));
    }
    if (gemm_->find("layout") == nullptr) gemm_->set("layout", make_mapping(place));
    gemm_->find("layout")->set(matrix, make_scalar(text == "T" ? "row" : "col", place));
  }

  bool set_custom_size(const std::string& name, const std::string& text, const Place& place) {
    Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr;
    if (sizes == nullptr || sizes->find(name) == nullptr) return false;
    sizes->set(name, make_scalar(text, place));
    return true;
  }

  Diagnostics* diagnostics_;
  Node* gemm_ = nullptr;
  Node* custom_ = nullptr;
};

class Overrider {
 public:
  Overrider(Node& root, Diagnostics& diagnostics)
      : root_(&root), diagnostics_(&diagnostics), problem_(root, diagnostics), declares_(!parameter_names().empty()) {}

  void set_parameter(const std::string& name, const Node& value) {
    for (Node* mapping : parameter_mappings(*root_)) set_in_mapping(*mapping, name, value);
  }

  /// All --param with their texts. A parameter that has one value in each mapping of a union names them, and known
  /// values of it choose among them. Others must be declared, unless none is.
  void replace_parameters(const std::vector<std::pair<Entry, std::string>>& given) {
    std::vector<const Entry*> choices;
    for (const auto& [entry, text] : given)
      if (chooses(entry)) choices.push_back(&entry);
    const auto is_left_out = [&](const Node& mapping) {
      return mapping.is_mapping() &&
             !std::ranges::all_of(choices, [&](const Entry* choice) { return has_one_of(mapping, *choice); });
    };
    if (!choices.empty() && std::ranges::all_of(root_->find("params")->items, is_left_out)) {
      diagnostics_->add(choices.back()->key.place, "no mapping of params has this value together with the others");
      return;
    }
    if (!choices.empty()) std::erase_if(root_->find("params")->items, is_left_out);
    for (const auto& [entry, text] : given)
      if (std::ranges::find(choices, &entry) == choices.end()) replace_parameter(entry, text);
  }

  /// Whether the file itself has parameters.
  bool declares() const { return declares_; }

  /// Whether `file:` has several sources, which are the values of a parameter.
  bool lists_files() const {
    const Node* file = root_->find("file");
    return file != nullptr && (file->is_list() || std::ranges::any_of(file->entries, [](const Entry& each) {
                                 return each.value.is_list();
                               }));
  }

  /// --add-param: the parameter must not be declared.
  void add_parameter(const Entry& entry, const std::string& text) {
    if (has_parameter(bare_name(entry.key.text))) {
      diagnostics_->add(entry.key.place,
                        fmt::format("the parameter '{}' is declared already; to replace its values, write "
                                    "--param '{}'",
                                    bare_name(entry.key.text), text));
      return;
    }
    if (root_->find("params") == nullptr) root_->set("params", make_mapping(entry.key.place));
    set_parameter(entry.key.text, entry.value);
  }

  /// -m, -n, -k: `letter` is lower case.
  void set_size(const std::string& letter, std::int64_t size) {
    const Place place = place_of_option("-" + letter);
    const std::string capital = upper(letter);
    const std::string text = std::to_string(size);
    if (problem_.set(letter, text, place) || problem_.set(capital, text, place)) return;
    if (problem_.is_custom())
      diagnostics_->add(
          place,
          fmt::format("the custom problem has no size '{}'; set those that it has by --problem NAME=SIZE", letter));
    else
      set_parameter(has_parameter(letter) ? letter : capital, make_scalar(text, place));
  }

  /// --problem KEY=VALUE
  void set_problem(const std::string& text) {
    const Place place = place_of_option("--problem " + text);
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      diagnostics_->add(place, "write KEY=VALUE, such as a=bf16");
    } else if (!problem_.set(key, text.substr(equals + 1), place)) {
      diagnostics_->add(place, fmt::format("'{}' is no entry of the problem{}", key,
                                           problem_.is_gemm() || problem_.is_custom()
                                               ? did_you_mean(key, problem_.names())
                                               : "; the file has none, and --param sets the parameters of a program"));
    }
  }

  /// --config_str
  void apply_configuration(const std::string& text) {
    const Place place = place_of_option("--config_str " + text);
    const ConfigurationText configuration = read_configuration(text, place, *diagnostics_);
    for (const auto& [key, value] : configuration.problem)
      if (!problem_.set(key, value, place))
        set_parameter(has_parameter(key) ? key : upper(key), make_scalar(value, place));
    for (const ConfigurationText::Parameter& parameter : configuration.parameters) {
      const std::string name = declared(parameter);
      if (name.empty())
        diagnostics_->add(
            place, fmt::format("the file has no parameter '{}' or '{}'", parameter.short_name, parameter.long_name));
      else
        set_parameter(name, make_scalar(parameter.value, place));
    }
  }

  /// Sizes that a shape of a gemm does not say are given by these settings.
  void apply(const Shape& shape, const LoadSettings& settings) {
    Shape parameters;
    for (std::size_t i = 0; i < shape.settings.size(); ++i)
      if (!problem_.set(shape.settings[i].name, to_text(shape.settings[i].value), shape.places[i])) {
        parameters.settings.push_back(shape.settings[i]);
        parameters.places.push_back(shape.places[i]);
      }
    apply_parameters(parameters);
    if (!problem_.is_gemm()) return;
    for (const char* size : {"m", "n", "k"}) {
      const auto sets = [&](const Setting& setting) { return ProblemEntries::gemm_key(setting.name) == size; };
      const auto count = std::ranges::count_if(shape.settings, sets);
      if (count == 0 && !gives(settings, size))
        diagnostics_->add(shape.place, fmt::format("a shape of a gemm lacks {}", upper(size)));
      if (count > 1) diagnostics_->add(shape.place, fmt::format("a shape has both {} and {}", upper(size), size));
    }
  }

  /// The parameters of a shape that choose among the mappings of the union.
  const std::vector<Setting>& chosen() const { return chosen_; }

 private:
  static bool gives(const LoadSettings& settings, const std::string& size) {
    const auto says = [&](const std::string& text) {
      return ProblemEntries::gemm_key(text.substr(0, text.find('='))) == size;
    };
    return std::ranges::any_of(settings.problem, says) || (size == "m" && settings.m) || (size == "n" && settings.n) ||
           (size == "k" && settings.k);
  }

  void replace_parameter(const Entry& entry, const std::string& text) {
    const std::string name = bare_name(entry.key.text);
    if (has_parameter(name) || !declares_) return set_parameter(entry.key.text, entry.value);
    if (name == kFileParameter && lists_files()) return set_parameter(name, entry.value);
    if (problem_.is_gemm() && (name == "m" || name == "n" || name == "k")) {
      diagnostics_->add(entry.key.place, fmt::format("'{0}' is a size of the problem; write -{0} SIZE", name));
      return;
    }
    std::vector<std::string> known = parameter_names();
    const std::string nearest = did_you_mean(name, known);
    diagnostics_->add(
        entry.key.place,
        fmt::format("there is no parameter '{}'{} To add it, write --add-param '{}'", name,
                    nearest.empty() ? fmt::format("; the file has {}.", fmt::join(known, ", ")) : nearest, text));
  }

  static bool has_one_of(const Node& mapping, const Entry& choice) {
    const Entry* own = find_entry(mapping, bare_name(choice.key.text));
    return std::ranges::any_of(as_list(choice.value),
                               [&](const Node* value) { return own->value.text == value->text; });
  }

  bool chooses(const Entry& given) {
    std::set<std::string> known;
    const std::vector<Node*> mappings = parameter_mappings(*root_);
    for (const Node* mapping : mappings) {
      const Entry* own = find_entry(*mapping, bare_name(given.key.text));
      if (own == nullptr || !own->value.is_scalar()) return false;
      known.insert(own->value.text);
    }
    const auto is_known = [&](const Node* value) { return value->is_scalar() && known.contains(value->text); };
    const std::vector<const Node*> values = as_list(given.value);
    return mappings.size() > 1 && !values.empty() && std::ranges::all_of(values, is_known);
  }

  /// A point of a union, such as a line of results, is chosen among its points. Else each parameter gets this one
  /// value.
  void apply_parameters(const Shape& shape) {
    const std::vector<Node*> mappings = parameter_mappings(*root_);
    if (mappings.size() > 1 && std::ranges::any_of(mappings, [&](Node* node) { return has_values(*node, shape); }))
      chosen_ = shape.settings;
    else
      for (std::size_t i = 0; i < shape.settings.size(); ++i) apply(shape.settings[i], shape.places[i]);
  }

  /// A parameter that cannot be read may have any value: whoever reads the mapping reports it.
  static bool has_values(const Node& mapping, const Shape& shape) try {
    return std::ranges::all_of(shape.settings, [&](const Setting& setting) {
      const Entry* entry = find_entry(mapping, setting.name);
      if (entry == nullptr) return false;
      Diagnostics unreadable;
      const auto parameter = read_parameter(entry->key, entry->value, Arithmetic::unquoted, unreadable);
      return unreadable.any() || !parameter || std::ranges::count(parameter->values, setting.value) > 0;
    });
  } catch (const Error&) {
    return true;
  }

  void apply(const Setting& setting, const Place& place) {
    // A program that does not have tune_gemm's names among its parameters gets them anyway.
    const bool of_a_program =
        !problem_.is_gemm() && !problem_.is_custom() && ProblemEntries::is_name_of_tune_gemm(setting.name);
    if (!of_a_program && !has_parameter(setting.name))
      diagnostics_->add(place, fmt::format("a shape has '{}', which is neither a size of the problem nor a parameter{}",
                                           setting.name, did_you_mean(setting.name, shape_names())));
    set_parameter((setting.run_time ? "$" : "") + setting.name, to_node(setting.value, place));
  }

  /// What a shape can say.
  std::vector<std::string> shape_names() {
    std::vector<std::string> names = problem_.names();
    const std::vector<std::string> parameters = parameter_names();
    names.insert(names.end(), parameters.begin(), parameters.end());
    return names;
  }

  std::vector<std::string> parameter_names() {
    Names names;
    for (const Node* mapping : parameter_mappings(*root_))
      for (const Entry& entry : mapping->entries) names.declare(bare_name(entry.key.text));
    return names.all();
  }

  bool has_parameter(const std::string& name) {
    return std::ranges::any_of(parameter_mappings(*root_),
                               [&](const Node* mapping) { return find_entry(*mapping, name) != nullptr; });
  }

  /// What the file calls a parameter of tune_gemm, whether in capitals or not; empty: it has none.
  std::string declared(const ConfigurationText::Parameter& parameter) {
    for (const Node* mapping : parameter_mappings(*root_))
      for (const Entry& entry : mapping->entries)
        for (const std::string& name : {parameter.long_name, parameter.short_name})
          if (lower_case(bare_name(entry.key.text)) == lower_case(name)) return entry.key.text;
    return "";
  }

  std::vector<Setting> chosen_;
  Node* root_;
  Diagnostics* diagnostics_;
  ProblemEntries problem_;
  bool declares_;
};

/// Splits NAME:VALUE; the value is YAML.
std::optional<Entry> parse_param(const std::string& option, const std::string& text, Diagnostics& diagnostics) {
  const Place place = place_of_option(option + " " + text);
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    diagnostics.add(place, "write NAME:VALUE or NAME:[VALUE, VALUE]");
    return {};
  }
  try {
    Node value = parse_yaml(text.substr(colon + 1), *place.file, diagnostics);
    relocate(value, place);
    return Entry{make_scalar(text.substr(0, colon), place), std::move(value)};
  } catch (const Error&) {
    diagnostics.add(
        place,
        fmt::format("'{}' is no YAML value; write NAME:VALUE, NAME:[VALUE, VALUE] or NAME:{{range: [FIRST, LAST]}}",
                    text.substr(colon + 1)));
    return {};
  }
}

void set_run_rules(const LoadSettings& settings, Node& root) {
  if (settings.shell) root.set("shell", make_scalar("true", place_of_option("--shell")));
  if (settings.whole) root.set("whole", make_scalar("true", place_of_option("--whole")));
  if (settings.prepare) root.set("prepare", make_text(*settings.prepare, place_of_option("--prepare")));
  if (settings.cleanup) root.set("cleanup", make_text(*settings.cleanup, place_of_option("--cleanup")));
  if (!settings.warmup) return;
  const Place place = place_of_option("--warmup");
  if (root.find("measure") == nullptr) root.set("measure", make_mapping(place));
  root.find("measure")->set("warmup", make_scalar(std::to_string(*settings.warmup), place));
}

}  // namespace

std::vector<Setting> apply_overrides(const LoadSettings& settings, Node& root, Diagnostics& diagnostics) {
  Overrider overrider(root, diagnostics);
  if (settings.shape) overrider.apply(*settings.shape, settings);
  for (const std::string& text : settings.problem) overrider.set_problem(text);
  if (settings.configuration) overrider.apply_configuration(*settings.configuration);
  if (settings.m) overrider.set_size("m", *settings.m);
  if (settings.n) overrider.set_size("n", *settings.n);
  if (settings.k) overrider.set_size("k", *settings.k);
  std::set<std::string> seen;
  bool lacks_parameter = false;  // uses of which are no mistakes of their own
  const auto parse = [&](const std::string& option, const std::string& text) {
    std::optional<Entry> entry = parse_param(option, text, diagnostics);
    lacks_parameter = lacks_parameter || (!entry && (option == "--add-param" || !overrider.declares()));
    if (!entry || seen.insert(bare_name(entry->key.text)).second) return entry;
    diagnostics.add(entry->key.place, fmt::format("'{0}' is given twice; write {0}:[VALUE, VALUE]", entry->key.text));
    return std::optional<Entry>();
  };
  for (const std::string& text : settings.new_params)
    if (const auto entry = parse("--add-param", text)) overrider.add_parameter(*entry, text);
  std::vector<std::pair<Entry, std::string>> replaced;
  for (const std::string& text : settings.params)
    if (auto entry = parse("--param", text)) replaced.emplace_back(std::move(*entry), text);
  overrider.replace_parameters(replaced);
  set_run_rules(settings, root);
  if (lacks_parameter) diagnostics.throw_if_any();
  return overrider.chosen();
}

}  // namespace tune::config

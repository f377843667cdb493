#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "config/reader/command/command_reader.h"
#include "config/reader/file_reader.h"
#include "config/reader/sections.h"
#include "config/yaml/fields.h"
#include "model/expression/code.h"
#include "model/statistics/objective.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

constexpr double kTimed = 0.9;  // of what a spec is given; in the rest it is checked

std::vector<std::string> read_defines(const Node& node, const std::map<std::string, Value>& constants,
                                      Diagnostics& diagnostics) {
  std::vector<std::string> known, names;
  for (const auto& [name, value] : constants) known.push_back(name);
  for (const Node* item : as_list(node)) {
    const auto name = read_text(*item, "each entry of build.defines", diagnostics);
    if (!name) continue;
    if (constants.contains(*name)) {
      names.push_back(*name);
    } else {
      diagnostics.add(item->place, fmt::format("'{}' in build.defines is no size of the problem{}", *name,
                                               did_you_mean(*name, known)));
    }
  }
  return names;
}

std::vector<std::filesystem::path> read_depends(const Node& node, const std::filesystem::path& folder, bool must_exist,
                                                Diagnostics& diagnostics) {
  std::vector<std::filesystem::path> files;
  for (const Node* item : as_list(node)) {
    if (!read_text(*item, "each entry of build.depends", diagnostics)) continue;
    files.push_back(resolve(*item, folder, diagnostics));
    std::error_code error;
    if (must_exist && !std::filesystem::is_regular_file(files.back(), error))
      diagnostics.add(item->place, fmt::format("no such file in build.depends: '{}' (looked for {})", item->text,
                                               files.back().string()));
  }
  return files;
}

std::vector<std::string> read_flags(const Node& node, Diagnostics& diagnostics) {
  for (const Node* item : as_list(node))
    if (item->is_scalar() && item->text.starts_with('-') && item->text.find(" -") != std::string::npos)
      diagnostics.warn(item->place,
                       fmt::format("'{}' in build.flags is passed on as one flag; write several as a list: "
                                   "[-O2, -g]",
                                   item->text));
  return read_texts(node, "build.flags", diagnostics);
}

/// Reads the value of a rule of kMeasureRules.
class RuleReader {
 public:
  RuleReader(const Node& node, const MeasureRule& rule, Diagnostics& diagnostics)
      : node_(node), rule_(rule), diagnostics_(diagnostics) {}

  void read(int& value) {
    const auto read = read_integer(node_, rule_.name, diagnostics_);
    if (!read) return;
    check(*read);
    value = static_cast<int>(
        std::clamp<std::int64_t>(*read, static_cast<int>(rule_.least), std::numeric_limits<int>::max()));
  }
  void read(double& value) {
    value = read_number(node_, rule_.name, diagnostics_).value_or(value);
    check(value);
  }
  void read(bool& value) { value = read_bool(node_, rule_.name, diagnostics_).value_or(value); }
  void read(PowerState& value) {
    const auto text = read_text(node_, rule_.name, diagnostics_);
    if (const auto read = text ? parse_power_state(*text) : std::nullopt)
      value = *read;
    else if (text)
      diagnostics_.add(node_.place, fmt::format("{} must be burst or sustained, not '{}'", rule_.name, *text));
  }
  // No key of the file has such a value.
  void read(std::int64_t&) { throw std::logic_error("a key of measure: has no reader"); }
  void read(MeasureRules::Energy&) { throw std::logic_error("a key of measure: has no reader"); }

 private:
  template <class Number>
  void check(Number number) {
    const auto value = static_cast<double>(number);
    const bool above = rule_.range == MeasureRule::Range::above;
    if (value > rule_.least || (!above && value == rule_.least)) return;
    if (rule_.range == MeasureRule::Range::at_least_or_zero && value == 0) return;
    diagnostics_.add(node_.place,
                     above ? fmt::format("{} must be more than {}", rule_.name, rule_.least)
                           : fmt::format("{} is {}; it must be at least {}", rule_.name, number, rule_.least));
  }

  const Node& node_;
  const MeasureRule& rule_;
  Diagnostics& diagnostics_;
};

/// Complains of a name declared nowhere unless it can be a column of the program's result, which is then declared.
void declare_columns(const Node& node, SymbolTable& scope) {
  while (node.is_scalar()) {
    try {
      Expression::parse(node.text, scope.names());
      return;
    } catch (const UnknownName& unknown) {
      const bool marks_parameter = node.text.at(unknown.column()) == '$';
      if (marks_parameter || !is_identifier(unknown.name())) return;
      scope.add_result(unknown.name());
    } catch (const ExpressionError&) {
      return;
    }
  }
}

std::optional<bool> read_direction(const Fields& fields, const Place& place) {
  const Node *maximize = fields.find("maximize"), *minimize = fields.find("minimize");
  if (maximize != nullptr && minimize != nullptr) {
    fields.diagnostics().add(place, fmt::format("{} has both maximize and minimize; keep one", fields.what()));
  }
  if (maximize != nullptr) return read_bool(*maximize, "maximize", fields.diagnostics());
  if (minimize == nullptr) return {};
  const std::optional<bool> value = read_bool(*minimize, "minimize", fields.diagnostics());
  return value ? std::optional(!*value) : std::nullopt;
}

bool is_jump(Op op) { return op >= Op::jump; }

/// Whether the value is that of `and`, `or` or `if`, which end in a jump over the last operand.
bool is_chosen(const Code& code) {
  const auto size = static_cast<std::int64_t>(code.instructions.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const Instruction& instruction = code.instructions[static_cast<std::size_t>(i)];
    if (is_jump(instruction.op) && i + instruction.index == size) return true;
  }
  return false;
}

bool may_be_false(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return std::holds_alternative<Bool>(value) || (integer != nullptr && (*integer == 0 || *integer == 1));
}

/// Whether a name can stand for a condition.
bool is_truth(const std::string& name, std::span<const Space::Mapping> mappings) {
  bool only_truths = true, is_parameter = false;
  for (const Space::Mapping& mapping : mappings) {
    if (std::ranges::find(mapping.derived, name, &Derived::name) != mapping.derived.end()) return true;
    for (const Parameter& parameter : mapping.parameters) {
      if (parameter.name != name) continue;
      is_parameter = true;
      only_truths = only_truths && std::ranges::all_of(parameter.values, may_be_false);
    }
  }
  return name.starts_with("device.") || (is_parameter && only_truths);
}

}  // namespace

BuildRules read_build(const Node& node, const std::filesystem::path& folder,
                      const std::map<std::string, Value>& constants, bool program_mode, bool files_must_exist,
                      Diagnostics& diagnostics) {
  Fields fields(node, "build", {"flags", "include", "depends", "defines", "command", "run"}, diagnostics);
  BuildRules rules;
  if (const Node* flags = fields.find("flags")) rules.flags = read_flags(*flags, diagnostics);
  if (const Node* include = fields.find("include")) {
    for (const Node* item : as_list(*include)) {
      if (read_text(*item, "each entry of build.include", diagnostics)) {
        rules.include.push_back(resolve(*item, folder, diagnostics));
      }
    }
  }
  if (const Node* depends = fields.find("depends"))
    rules.depends = read_depends(*depends, folder, files_must_exist, diagnostics);
  if (const Node* defines = fields.find("defines")) rules.defines = read_defines(*defines, constants, diagnostics);
  const Node *command = fields.find("command"), *run = fields.find("run");
  if (command != nullptr) {
    const CommandNames names = {{"file", "defines", "flags", "binary", "arch"}, {}, false};
    rules.command = read_command(*command, "build.command", Strings::shell, names, diagnostics);
  }
  for (const Node* unused : {command, run}) {
    if (unused != nullptr && !program_mode) {
      diagnostics.add(unused->place, "build.command and run are for programs; a kernel is built by its backend");
    }
  }
  return rules;
}

MeasureRules read_measure(const Node& node, MeasureRules rules, Diagnostics& diagnostics) {
  std::vector<std::string_view> keys;
  for (const MeasureRule& rule : kMeasureRules)
    if (rule.is_key) keys.push_back(rule.name);
  const Fields fields(node, "measure", keys, diagnostics);
  for (const MeasureRule& rule : kMeasureRules)
    if (const Node* value = rule.is_key ? fields.find(rule.name) : nullptr)
      std::visit([&](auto member) { RuleReader(*value, rule, diagnostics).read(rules.*member); }, rule.member);
  return rules;
}

void check_run_seconds(const Node* measure, const MeasureRules& rules, double run_seconds, Diagnostics& diagnostics) {
  if (rules.max_seconds <= kTimed * run_seconds) return;
  const Node* seconds = measure != nullptr ? measure->find("max_seconds") : nullptr;
  const Place place = seconds != nullptr ? seconds->place : place_of_option("--timeout-run");
  diagnostics.add(
      place, fmt::format("specs that are timed for measure.max_seconds, which is {}, would time out: --timeout-run is "
                         "{}, and they are checked in it, too; give --timeout-run {:.0f}, or make max_seconds less",
                         rules.max_seconds, run_seconds, std::ceil(rules.max_seconds / kTimed)));
}

std::vector<Metric> read_metrics(const Node& node, bool program_mode, SymbolTable& scope, Diagnostics& diagnostics) {
  std::vector<Metric> metrics;
  if (!node.is_mapping()) {
    diagnostics.add(node.place, fmt::format("metrics must be a mapping such as {{\"GB/s\": bytes/time/1e9}}, not {}",
                                            describe(node)));
  }
  for (const Entry& entry : node.entries) {
    const std::string what = fmt::format("metric '{}'", entry.key.text);
    const Node* text = &entry.value;
    std::optional<bool> maximize;
    if (entry.key.text == "time") {
      diagnostics.add(entry.key.place, "metric 'time' is also a built-in figure of a measurement; rename it");
      continue;
    }
    if (!text->is_scalar()) {
      Fields fields(*text, what, {"expr", "maximize", "minimize"}, diagnostics);
      maximize = read_direction(fields, text->place);
      const bool of_program = program_mode && text->is_mapping() && text->find("expr") == nullptr;
      if (of_program) metrics.push_back({entry.key.text, std::nullopt, maximize});
      text = of_program ? nullptr : fields.require("expr");
    }
    if (text == nullptr) continue;
    if (program_mode) declare_columns(*text, scope);
    if (auto expression = scope.read_for_all(*text, what)) {
      metrics.push_back({entry.key.text, std::move(*expression), maximize});
    }
  }
  return metrics;
}

std::vector<ConditionNode> read_conditions(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  std::vector<ConditionNode> conditions;
  for (const Node* item : as_list(node)) {
    if (item->is_scalar()) {
      conditions.push_back({item, item->comment.empty() ? item->text : item->comment});
      continue;
    }
    Fields fields(*item, std::string(what), {"if", "because"}, diagnostics);
    const Node *condition = fields.require("if"), *because = fields.find("because");
    if (condition == nullptr) continue;
    const auto reason = because != nullptr ? read_text(*because, "because", diagnostics) : std::nullopt;
    conditions.push_back({condition, reason.value_or(condition->text)});
  }
  return conditions;
}

bool compares_nothing(const Expression& condition, const Names& names, std::span<const Space::Mapping> mappings) {
  const Code& code = condition.code();
  if (is_chosen(code)) return false;
  const Op op = code.instructions.back().op;
  if (op == Op::load) return code.uses.empty() || !is_truth(names.at(code.uses.front().slot), mappings);
  const bool compares = (op >= Op::less && op <= Op::contains) || op == Op::in_list || op == Op::logical_not;
  return !compares && op != Op::link;
}

std::vector<std::string> read_objectives(const Node* node, const ObjectiveContext& context, Diagnostics& diagnostics) {
  std::vector<std::string> known = {"time", "gflops", "gflops_per_watt", "energy", "edp", "ed2p"};
  for (const Metric& metric : context.metrics) known.push_back(metric.name);
  known.insert(known.end(), context.figures.begin(), context.figures.end());
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<std::string> objectives;
  const auto add = [&](const std::string& written, const auto& complain) {
    const std::string name = context.any_column && !context.has_flops ? written : objective_named(written, known);
    const std::string advice = did_you_mean(written, known);
    if (!contains(known, name) && !(context.any_column && advice.empty()))
      complain(fmt::format(
          "unknown objective '{}'{}", written,
          advice.empty() ? fmt::format("; known are {}; metrics may declare others", fmt::join(known, ", ")) : advice));
    else if (contains(objectives, name))
      complain(fmt::format("the objective '{}' stands twice", written));
    else
      objectives.push_back(name);
  };
  if (node != nullptr && node->is_list() && node->items.empty())
    diagnostics.add(node->place, "objective is an empty list; name one, such as time, or remove it");
  for (const std::string& name : context.asked)
    add(name, [](const std::string& text) { throw Error(ExitCode::bad_input, "--objective: " + text); });
  if (node != nullptr && context.asked.empty())
    for (const Node* item : as_list(*node))
      if (const auto name = read_text(*item, "objective", diagnostics))
        add(*name, [&](const std::string& text) { diagnostics.add(item->place, text); });
  return objectives;
}

}  // namespace tune::config

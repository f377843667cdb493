#include "config/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/baseline_reader.h"
#include "config/device_file.h"
#include "config/device_limits.h"
#include "config/device_parameters.h"
#include "config/idle_condition.h"
#include "config/rules_reader.h"
#include "config/run_reader.h"
#include "model/device_setting.h"
#include "model/program.h"
#include "model/statistics/objective.h"
#include "model/support.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

const std::string kDevice = "device.";
constexpr int kRunsBeforehand = 1;  // of a whole command: they bring its files into memory
constexpr std::array<std::string_view, 4> kGpuBuildNames = {"registers", "spills", "shared", "occupancy"};
constexpr std::array<std::string_view, 2> kCpuBuildNames = {"code", "stack"};
constexpr std::array<std::string_view, 4> kFigures = {"time", "flops", "bytes", "energy"};

template <class Array>
bool contains(const Array& array, std::string_view name) {
  return std::ranges::find(array, name) != array.end();
}

bool is_word_of_the_language(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {"and",  "or",   "not",   "in",    "if",
                                                      "else", "True", "False", "device"};
  return contains(kWords, name);
}

bool is_function(std::string_view name) {
  constexpr std::array<std::string_view, 4> kFunctions = {"min", "max", "abs", "ceil_div"};
  return contains(kFunctions, name);
}

std::span<const std::string_view> build_names(Backend backend) {
  if (is_gpu(backend)) return kGpuBuildNames;
  if (backend == Backend::cpu) return kCpuBuildNames;
  return {};
}

}  // namespace

Interpreter::Interpreter(const Source& source, const LoadOptions& options, Diagnostics& diagnostics)
    : source_(source),
      options_(options),
      diagnostics_(diagnostics),
      top_(source.root, "the tuning file",
           {"name",     "file",        "kernel",  "backend",           "problem", "params",    "let",
            "default",  "constraints", "rules",   "prune_after_build", "launch",  "build",     "run",
            "shell",    "whole",       "prepare", "cleanup",           "measure", "objective", "metrics",
            "baseline", "result",      "device",  "device_defaults"},
           diagnostics),
      scope_(diagnostics) {}

Plan Interpreter::run() {
  read_heading();
  read_problem_section();
  read_device_defaults();
  read_space();
  read_launch();
  space_names_ = scope_.names();
  read_rules();
  add_build_names();
  read_pruning();
  read_figures();
  read_points();
  diagnostics_.throw_if_any();
  plan_.result_names = scope_.names();
  add_device_limits();
  plan_.space = Space(space_names_, fixed_values(), std::move(mappings_));
  check_trusted_spec();
  return std::move(plan_);
}

void Interpreter::read_heading() {
  if (const Node* name = top_.require("name")) {
    plan_.name = read_text(*name, "name", diagnostics_).value_or("");
    if (plan_.name.find_first_of("\r\n") != std::string::npos) diagnostics_.add(name->place, "name must be one line");
  }
  if (const Node* kernel = top_.find("kernel")) {
    plan_.kernel = read_text(*kernel, "kernel", diagnostics_).value_or("");
    if (kernel->is_scalar() && !is_identifier(plan_.kernel)) {
      diagnostics_.add(kernel->place,
                       fmt::format("kernel '{}' must be the name of an extern \"C\" function", plan_.kernel));
    }
  }
  file_ = read_file_section(top_, source_.folder, options_);
  plan_.file = file_.file;
  plan_.file_as_written = file_.as_written;
  plan_.backend = file_.backend.value_or(Backend::automatic);
  // Without a backend the names of any backend may be meant, so they are not reported.
  if (!file_.backend) file_.others = {Backend::cuda, Backend::hip, Backend::cpu, Backend::program};
}

void Interpreter::read_problem_section() {
  const Node* node = top_.find("problem");
  if (node != nullptr) problem_ = read_problem(*node, scope_, diagnostics_);
  if (node == nullptr && !plan_.kernel.empty()) {
    problem_ = assume_gemm(scope_);
    diagnostics_.add(top_.find("kernel")->place,
                     "a kernel needs problem: {gemm: ...} or {custom: ...}, or no 'kernel' key "
                     "if the file is a program");
  }
  plan_.problem = problem_.problem;
  if (const auto what = unsupported(plan_.problem, plan_.backend)) diagnostics_.add(node->place, *what);
  plan_.constants = problem_.constants;
  scope_.add_device(plan_.backend, file_.others);
}

std::string Interpreter::owner_of(const std::string& name) const {
  if (is_function(name)) return "a built-in function";
  if (is_word_of_the_language(name)) return "a word of the expression language";
  if (problem_.constants.contains(name)) return "a size of the problem";
  if (contains(kFigures, name)) return "a built-in figure of a measurement";
  if (program_mode()) return "";
  if (contains(kGpuBuildNames, name) || contains(kCpuBuildNames, name)) return "a built-in property of a build";
  if (contains(buffer_names(plan_.problem), name) || name == "workspace") return "a buffer";
  return "";
}

void Interpreter::read_space() {
  const Node* params = top_.require("params");
  if (params == nullptr) return;
  const bool is_compiled = language_of(plan_.file).has_value();
  params_ = read_params(
      *params, [this](const std::string& name) { return owner_of(name); },
      [&](const Parameter& parameter) {
        return !is_of_a_device(parameter.name) && (!program_mode() || (is_compiled && !parameter.run_time));
      },
      plan_.file.empty() ? Arithmetic::none : Arithmetic::unquoted, diagnostics_);
  // A recording may have been made with any names, and sets nothing.
  if (options_.measured_here) check_device_parameters(*params, file_.backend, params_, diagnostics_);
  for (const ParameterMapping& mapping : params_) {
    scope_.add_mapping(mapping.place, mapping.parameters);
    mappings_.push_back({mapping.parameters, {}, {}});
  }
  read_derived();
  for (const char* key : {"constraints", "rules"}) {
    if (const Node* node = top_.find(key)) read_constraints(*node);
  }
}

void Interpreter::read_derived() {
  const Node* let = top_.find("let");
  if (let == nullptr) return;
  if (!let->is_mapping()) diagnostics_.add(let->place, fmt::format("let must be a mapping, not {}", describe(*let)));
  for (const Entry& entry : let->entries) {
    const std::string& name = entry.key.text;
    const std::string owner = scope_.declares(name) && owner_of(name).empty() ? "a parameter" : owner_of(name);
    if (!is_identifier(name) || !owner.empty()) {
      diagnostics_.add(entry.key.place, owner.empty() ? fmt::format("'{}' in let cannot be a name", name)
                                                      : fmt::format("'{}' in let is also {}; rename it", name, owner));
      continue;
    }
    const std::optional<Expression> expression = scope_.read(entry.value, "let " + name);
    if (expression && expression->used_slots().empty()) {
      EvalFailure failure;
      expression->evaluate({}, failure);
      if (failure)
        diagnostics_.add(entry.value.place,
                         fmt::format("cannot evaluate let {}: {}", name, expression->explain(failure, {})));
    }
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      // After an error the name is declared anyway, so that its uses are not reported too.
      if (expression && !scope_.known_in(i, *expression)) continue;
      scope_.add_to_mapping(i, name);
      if (expression) mappings_[i].derived.push_back({name, *expression});
    }
  }
}

void Interpreter::check_comparison(const Node& node, const Expression& condition, std::string_view what) {
  if (!compares_nothing(condition, scope_.names(), mappings_)) return;
  diagnostics_.warn(node.place, fmt::format("{0} '{1}' compares nothing: it excludes only what makes it 0; write a "
                                            "comparison, such as {1} <= 1024",
                                            what, node.text));
}

void Interpreter::read_constraints(const Node& node) {
  for (const ConditionNode& entry : read_conditions(node, "constraint", diagnostics_)) {
    const std::optional<Expression> expression = scope_.read(*entry.condition, "constraint");
    if (expression) check_comparison(*entry.condition, *expression, "constraint");
    for (std::size_t i = 0; expression && i < mappings_.size(); ++i) {
      if (scope_.known_in(i, *expression)) {
        mappings_[i].constraints.push_back({*expression, entry.reason, to_text(entry.condition->place)});
      }
    }
  }
}

void Interpreter::add_build_names() {
  for (const Backend other : file_.others) {
    for (const std::string_view name : build_names(other)) scope_.add_elsewhere(std::string(name));
  }
  for (const std::string_view name : build_names(plan_.backend)) scope_.add_result(std::string(name));
}

void Interpreter::read_pruning() {
  const Node* node = top_.find("prune_after_build");
  if (node == nullptr) return;
  if (program_mode()) {
    diagnostics_.add(node->place, "prune_after_build needs kernel mode: nothing is known of a program's build");
    return;
  }
  for (const ConditionNode& entry : read_conditions(*node, "prune_after_build", diagnostics_)) {
    const std::optional<Expression> expression = scope_.read_for_all(*entry.condition, "prune_after_build");
    if (!expression || scope_.only_elsewhere(*expression)) continue;
    check_comparison(*entry.condition, *expression, "prune_after_build");
    plan_.prune_after_build.push_back(*expression);
    plan_.prune_reasons.push_back(entry.reason);
  }
}

LaunchContext Interpreter::launch_context() const {
  LaunchContext context{plan_.backend,
                        file_.others,
                        plan_.kernel,
                        buffer_names(plan_.problem),
                        std::holds_alternative<Gemm>(plan_.problem),
                        {}};
  const auto is_pair = [](const Value& value) { return std::holds_alternative<Pair>(value); };
  for (const ParameterMapping& mapping : params_) {
    for (const Parameter& parameter : mapping.parameters) {
      const bool pairs = !parameter.values.empty() && std::ranges::all_of(parameter.values, is_pair);
      if (pairs) context.pairs.push_back(parameter.name);
    }
  }
  return context;
}

void Interpreter::read_launch() {
  const Node* node = top_.find("launch");
  if (program_mode()) {
    if (node != nullptr)
      diagnostics_.add(node->place, "launch needs 'kernel:', the kernel's name; a program launches itself");
    return;
  }
  // Without a backend every entry would be reported for the wrong reason.
  if (!file_.backend) return;
  const LaunchContext context = launch_context();
  if (top_.require("launch") != nullptr) {
    LaunchSection section = read_launches(*node, context, scope_, diagnostics_);
    plan_.launches = std::move(section.launches);
    plan_.workspace = std::move(section.workspace);
    plan_.zero_c = section.zero_c;
  }
  read_reference(context);
}

void Interpreter::read_reference(const LaunchContext& context) {
  if (!std::holds_alternative<Custom>(plan_.problem)) return;
  const Node* node = problem_.reference;
  if (node == nullptr) {
    diagnostics_.add(top_.find("problem")->place,
                     "custom needs reference: {kernel: NAME, args: [...]} or {spec: {...}}");
  } else if (const Node* spec = node->find("spec")) {
    const Fields known(*node, "reference", {"spec"}, diagnostics_);
    plan_.reference.trusted = read_point(*spec, "reference.spec", params_, diagnostics_);
  } else {
    plan_.reference.kernel = read_reference_launch(*node, context, scope_, diagnostics_);
  }
}

void Interpreter::check_trusted_spec() {
  if (plan_.reference.trusted.empty()) return;
  const auto point = plan_.space.at(std::span(plan_.reference.trusted));
  const auto* rejection = std::get_if<Rejection>(&point);
  if (rejection == nullptr) return;
  diagnostics_.add(problem_.reference->place, fmt::format("reference.spec is pruned: {}", rejection->reason));
  diagnostics_.throw_if_any();
}

void Interpreter::read_rules() {
  if (const Node* build = top_.find("build")) {
    plan_.build =
        read_build(*build, source_.folder, plan_.constants, program_mode(), options_.file_must_exist, diagnostics_);
    std::error_code ignored;
    for (const std::filesystem::path& folder : plan_.build.include)
      if (options_.file_must_exist && !std::filesystem::is_directory(folder, ignored))
        diagnostics_.add(build->find("include")->place,
                         fmt::format("build.include: there is no folder {}", folder.string()));
  }
  if (program_mode())
    read_run_section(top_, {!plan_.file.empty(), needs_build(plan_.file, plan_.build.command), mappings_}, plan_.build,
                     diagnostics_);
  if (plan_.is_command()) plan_.file_as_written = shown_command({plan_.build.run, plan_.build.run_is_shell});
  for (const char* key : {"run", "shell", "whole", "prepare", "cleanup"})
    if (const Node* node = top_.find(key); node != nullptr && !plan_.kernel.empty())
      diagnostics_.add(node->place, fmt::format("{} is for programs; a kernel is launched by its backend", key));
  const bool times_whole = program_mode() && plan_.build.whole.value_or(true);
  if (times_whole) plan_.measure.warmup = kRunsBeforehand;
  if (const Node* measure = top_.find("measure")) plan_.measure = read_measure(*measure, plan_.measure, diagnostics_);
  if (options_.state) plan_.measure.state = *options_.state;
  if (options_.run_seconds && (!program_mode() || times_whole))
    check_run_seconds(top_.find("measure"), plan_.measure, *options_.run_seconds, diagnostics_);
}

void Interpreter::read_figures() {
  for (const std::string_view name : kFigures) scope_.add_result(std::string(name));
  for (const std::string& figure : options_.figures)
    if (is_identifier(figure) && !scope_.declares(figure)) scope_.add_result(figure);
  if (const Node* metrics = top_.find("metrics")) {
    plan_.metrics = read_metrics(*metrics, program_mode(), scope_, diagnostics_);
  }
  read_objectives();
}

void Interpreter::read_objectives() {
  std::vector<std::string> known = {"time", "gflops", "gflops_per_watt", "energy", "edp", "ed2p"};
  for (const Metric& metric : plan_.metrics) known.push_back(metric.name);
  known.insert(known.end(), options_.figures.begin(), options_.figures.end());
  std::vector<std::string> objectives;
  // Any column that the program may report, whose time alone is known; a recording's columns are known.
  const bool columns = program_mode() && options_.figures.empty();
  const auto add = [&](const std::string& written, const auto& complain) {
    const std::string name = columns && flops_of(plan_.problem) == 0 ? written : objective_named(written, known);
    const std::string advice = did_you_mean(written, known);
    if (!contains(known, name) && !(columns && advice.empty()))
      complain(fmt::format("unknown objective '{}'{}", written, advice.empty() ? "; declare it in metrics" : advice));
    else if (contains(objectives, name))
      complain(fmt::format("the objective '{}' stands twice", written));
    else
      objectives.push_back(name);
  };
  const Node* node = top_.find("objective");
  if (node != nullptr && node->is_list() && node->items.empty())
    diagnostics_.add(node->place, "objective is an empty list; name one, such as time, or remove it");
  for (const std::string& name : options_.objectives)
    add(name, [](const std::string& text) { throw Error(ExitCode::bad_input, "--objective: " + text); });
  if (node != nullptr && options_.objectives.empty())
    for (const Node* item : as_list(*node))
      if (const auto name = read_text(*item, "objective", diagnostics_))
        add(*name, [&](const std::string& text) { diagnostics_.add(item->place, text); });
  if (objectives.empty()) return;
  plan_.objective = objectives.front();
  plan_.other_objectives.assign(objectives.begin() + 1, objectives.end());
}

void Interpreter::read_points() {
  if (params_.empty()) return;
  if (const Node* node = top_.find("default")) {
    plan_.default_settings = read_default(*node, params_, diagnostics_);
    plan_.default_place = place_of_default(*node, *top_.find("params"));
  }
  if (const Node* node = top_.find("baseline")) {
    const bool has_vendor = !program_mode() && std::holds_alternative<Gemm>(plan_.problem);
    plan_.baselines = read_baselines(*node, source_.folder, params_, has_vendor, diagnostics_);
  }
}

void Interpreter::add_device_limits() {
  const bool gpu = is_gpu(plan_.backend);
  const auto device = gpu && options_.limits ? options_.limits(plan_.backend) : std::nullopt;
  if (!device) return;
  for (const Constraint& limit : device_limits(plan_.launches, plan_.backend, *device, space_names_)) {
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      if (scope_.known_in(i, limit.expression)) mappings_[i].constraints.push_back(limit);
    }
  }
}

void Interpreter::read_device_defaults() {
  const Node* node = top_.find("device_defaults");
  if (node == nullptr) return;
  device_defaults_ = read_properties(*node, "device_defaults", diagnostics_);
  for (const Entry& entry : node->entries) {
    if (scope_.declares(kDevice + entry.key.text)) continue;
    const auto names = device_names(plan_.backend);
    const std::vector<std::string> known(names.begin(), names.end());
    diagnostics_.add(entry.key.place, fmt::format("unknown name '{}' in device_defaults{}", entry.key.text,
                                                  did_you_mean(entry.key.text, known)));
  }
}

Device Interpreter::device_in_expressions() const try {
  if (!options_.probe)
    throw Error(
        ExitCode::environment,
        fmt::format("an expression of '{}' uses device.*, but no device is known; give --device-file", plan_.name));
  return options_.probe(plan_.backend);
} catch (const Error&) {
  // What cannot do without the device asks for it again.
  const bool known = std::ranges::all_of(scope_.used_device_slots(), [this](int slot) {
    return device_defaults_.contains(scope_.names().at(slot).substr(kDevice.size()));
  });
  if (!known) throw;
  return {};
}

std::vector<Value> Interpreter::fixed_values() const {
  std::vector<Value> values = scope_.values();
  values.resize(static_cast<std::size_t>(space_names_.size()));
  if (scope_.used_device_slots().empty()) return values;
  const Device device = device_in_expressions();
  for (const int slot : scope_.used_device_slots()) {
    const std::string& name = scope_.names().at(slot);
    const std::string property = name.substr(kDevice.size());
    const auto told = device.properties.find(property), otherwise = device_defaults_.find(property);
    if (told == device.properties.end() && otherwise == device_defaults_.end())
      throw Error(ExitCode::environment, fmt::format("an expression of '{}' uses device.*, but '{}' does not tell {}",
                                                     plan_.name, device.name, name));
    values[static_cast<std::size_t>(slot)] = told == device.properties.end() ? otherwise->second : told->second;
  }
  return values;
}

}  // namespace tune::config

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/reader/file_reader.h"
#include "config/reader/problem_reader.h"
#include "config/reader/sections.h"
#include "config/reader/source.h"
#include "config/reader/symbol_table.h"
#include "config/yaml/params.h"
#include "model/device_setting.h"
#include "model/program.h"
#include "model/statistics/objective.h"
#include "model/support.h"

namespace tune::config {
namespace {

/// All keys. Those of a best YAML stand there in this order.
constexpr FileKey kKeys[] = {
    {.name = "name", .is_in_best = true},
    {.name = "file", .is_in_best = true},
    {.name = "kernel", .is_in_best = true},
    {.name = "backend", .is_in_best = true},
    {.name = "device_defaults", .is_in_best = true},
    {.name = "problem", .is_in_best = true},
    {.name = "params", .is_in_best = true},
    {.name = "let", .is_in_best = true},
    {.name = "default"},
    {.name = "constraints", .may_use_names = true},
    {.name = "rules", .may_use_names = true},
    {.name = "prune_after_build", .may_use_names = true},
    {.name = "launch", .is_in_best = true, .may_use_names = true},
    {.name = "build", .is_in_best = true, .may_use_names = true},
    {.name = "run", .is_in_best = true, .may_use_names = true, .is_of_programs = true},
    {.name = "shell", .is_in_best = true, .is_of_programs = true},
    {.name = "whole", .is_in_best = true, .is_of_programs = true},
    {.name = "prepare", .is_in_best = true, .may_use_names = true, .is_of_programs = true},
    {.name = "cleanup", .is_in_best = true, .may_use_names = true, .is_of_programs = true},
    {.name = "measure", .is_in_best = true},
    {.name = "objective", .is_in_best = true},
    {.name = "metrics", .is_in_best = true, .may_use_names = true},
    {.name = "baseline"},
    {.name = "result"},
    {.name = "device"},
    {.name = "model"},
};

std::vector<std::string_view> names_of_keys() {
  std::vector<std::string_view> names;
  for (const FileKey& key : kKeys) names.push_back(key.name);
  return names;
}

constexpr int kRunsBeforehand = 1;  // of a whole command: they bring its files into memory

/// What is measured of every spec.
constexpr std::array<std::string_view, 4> kFigures = {"time", "flops", "bytes", "energy"};

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// What already bears a name in a tuning file of this backend, problem and these constants; or nothing. No parameter
/// and no derived value may have such a name.
std::string owner_of(std::string_view name, const Plan& plan) {
  constexpr std::array<std::string_view, 4> kFunctions = {"min", "max", "abs", "ceil_div"};
  constexpr std::array<std::string_view, 9> kWords = {"and",  "or",   "not",   "in",    "if",
                                                      "else", "True", "False", "device"};
  if (has(kFunctions, name)) return "a built-in function";
  if (has(kWords, name)) return "a word of the expression language";
  if (plan.constants.contains(std::string(name))) return "a size of the problem";
  if (has(kFigures, name)) return "a built-in figure of a measurement";
  if (plan.is_program()) return "";
  const auto of_builds = [&](const BackendTraits& traits) { return has(traits.build_names, name); };
  if (std::ranges::any_of(backends(), of_builds)) return "a built-in property of a build";
  const std::vector<std::string> buffers = buffer_names(plan.problem);
  if (std::ranges::find(buffers, name) != buffers.end() || name == "workspace") return "a buffer";
  return "";
}

/// Turns one tuning file into a plan, section by section; every section adds the names that later ones may use.
class Interpreter {
 public:
  Interpreter(const Source& source, const LoadRules& rules, Diagnostics& diagnostics)
      : source_(source),
        rules_(rules),
        diagnostics_(diagnostics),
        top_(source.root, "the tuning file", names_of_keys(), diagnostics),
        scope_(diagnostics) {}

  /// Throws as `load`.
  Plan run() {
    read_heading();
    read_problem_section();
    if (const Node* defaults = top_.find("device_defaults"))
      device_defaults_ = read_device_defaults(*defaults, plan_.backend(), scope_, diagnostics_);
    read_space();
    read_launch();
    read_model();
    space_names_ = scope_.names();
    read_rules();
    add_build_names();
    read_pruning();
    read_figures();
    read_points();
    require_epilogue();
    diagnostics_.throw_if_any();
    plan_.result_names = scope_.names();
    add_device_limits();
    plan_.space = Space(space_names_, fixed_values(scope_, space_names_, {plan_, rules_, device_defaults_}),
                        std::move(mappings_));
    check_trusted_spec();
    return std::move(plan_);
  }

 private:
  void read_heading() {
    if (const Node* name = top_.require("name")) {
      plan_.name = read_text(*name, "name", diagnostics_).value_or("");
      if (plan_.name.find_first_of("\r\n") != std::string::npos) diagnostics_.add(name->place, "name must be one line");
    }
    KernelPlan kernel;
    if (const Node* node = top_.find("kernel")) kernel.name = read_kernel_name(*node, diagnostics_);
    file_ = read_file_section(top_, source_.folder, rules_, plan_);
    kernel.backend = file_.backend.value_or(Backend::automatic);
    if (is_program(kernel.backend))
      plan_.subject = ProgramPlan{{}, file_.is_command};
    else
      plan_.subject = std::move(kernel);
    // Without a backend the names of any backend may be meant, so they are not reported.
    if (!file_.backend)
      for (const BackendTraits& traits : backends()) file_.others.push_back(traits.backend);
  }

  void read_problem_section() {
    const Node *node = top_.find("problem"), *kernel = top_.find("kernel");
    if (node != nullptr) problem_ = read_problem(*node, scope_, diagnostics_);
    if (node == nullptr && kernel != nullptr) {
      diagnostics_.add(kernel->place,
                       "a kernel needs problem: {gemm: ...} or {custom: ...}, or no 'kernel' key "
                       "if the file is a program");
      top_.require("launch");
      diagnostics_.throw_if_any();  // every other section may name its buffers and sizes
    }
    plan_.problem = problem_.problem;
    if (const auto what = unsupported(plan_.problem, plan_.backend())) diagnostics_.add(node->place, *what);
    plan_.constants = problem_.constants;
    plan_.counts = problem_.counts;
    scope_.add_device(plan_.backend(), file_.others);
  }

  void read_space() {
    const Node* params = top_.require("params");
    if (params == nullptr) return;
    const bool is_compiled = language_of(plan_.file).has_value();
    params_ = read_params(
        plan_.candidates.empty() ? *params : with_files(*params),
        [this](const std::string& name) { return owner_of(name, plan_); },
        [&](const Parameter& parameter) {
          return !is_of_a_device(parameter.name) && (!plan_.is_program() || (is_compiled && !parameter.run_time));
        },
        file_.is_command ? Arithmetic::none : Arithmetic::unquoted, diagnostics_);
    // A recording may have been made with any names, and sets nothing.
    if (rules_.measured_here) check_device_parameters(*params, file_.backend, params_, diagnostics_);
    for (const ParameterMapping& mapping : params_) {
      scope_.add_mapping(mapping.place, mapping.parameters);
      mappings_.push_back({mapping.parameters, {}, {}});
    }
    read_derived();
    for (const char* key : {"constraints", "rules"}) {
      if (const Node* node = top_.find(key)) read_constraints(*node);
    }
  }

  /// The parameters, with the one that chooses the source. `params` may have it, with a part of the files.
  Node with_files(Node params) {
    Node names = make_list({});
    for (const CandidateFile& file : plan_.candidates) names.items.push_back(make_text(file.name, params.place));
    const std::string name = std::string("$") + kFileParameter;
    const auto add = [&](Node& mapping) {
      if (!mapping.is_mapping()) return;
      Entry* chosen = find_entry(mapping, kFileParameter);
      if (chosen == nullptr) {
        mapping.entries.insert(mapping.entries.begin(), Entry{make_text(name, params.place), names});
        return;
      }
      chosen->key.text = name;
      for (const Node* value : as_list(chosen->value))
        if (std::ranges::find(plan_.candidates, value->text, &CandidateFile::name) == plan_.candidates.end())
          diagnostics_.add(value->place, fmt::format("'{}' is none of the files that 'file' lists", value->text));
    };
    if (params.is_list())
      std::ranges::for_each(params.items, add);
    else
      add(params);
    return params;
  }

  void read_derived() {
    const Node* let = top_.find("let");
    if (let == nullptr) return;
    if (!let->is_mapping()) diagnostics_.add(let->place, fmt::format("let must be a mapping, not {}", describe(*let)));
    for (const Entry& entry : let->entries) {
      const std::string& name = entry.key.text;
      const std::string owner =
          scope_.declares(name) && owner_of(name, plan_).empty() ? "a parameter" : owner_of(name, plan_);
      if (!is_identifier(name) || !owner.empty()) {
        diagnostics_.add(entry.key.place, owner.empty()
                                              ? fmt::format("'{}' in let cannot be a name", name)
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

  void check_comparison(const Node& node, const Expression& condition, std::string_view what) {
    if (!compares_nothing(condition, scope_.names(), mappings_)) return;
    diagnostics_.warn(node.place, fmt::format("{0} '{1}' compares nothing: it excludes only what makes it 0; write a "
                                              "comparison, such as {1} <= 1024",
                                              what, node.text));
  }

  void read_constraints(const Node& node) {
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

  void add_build_names() {
    for (const Backend other : file_.others) {
      for (const std::string_view name : traits_of(other).build_names) scope_.add_elsewhere(std::string(name));
    }
    for (const std::string_view name : traits_of(plan_.backend()).build_names) scope_.add_result(std::string(name));
  }

  void read_pruning() {
    const Node* node = top_.find("prune_after_build");
    if (node == nullptr) return;
    if (plan_.is_program()) {
      diagnostics_.add(node->place, "prune_after_build needs kernel mode: nothing is known of a program's build");
      return;
    }
    for (const ConditionNode& entry : read_conditions(*node, "prune_after_build", diagnostics_)) {
      const std::optional<Expression> expression = scope_.read_for_all(*entry.condition, "prune_after_build");
      if (!expression || scope_.only_elsewhere(*expression)) continue;
      check_comparison(*entry.condition, *expression, "prune_after_build");
      plan_.prune_after_build.push_back({*expression, entry.reason});
    }
  }

  void read_launch() {
    if (plan_.is_program()) {
      if (const Node* node = top_.find("launch"))
        diagnostics_.add(node->place, "launch needs 'kernel:', the kernel's name; a program launches itself");
      return;
    }
    // Without a backend every entry would be reported for the wrong reason.
    if (!file_.backend) return;
    auto& kernel = std::get<KernelPlan>(plan_.subject);
    const LaunchContext context = launch_context(plan_, file_.others, params_);
    if (const Node* node = top_.require("launch")) read_launches(*node, context, scope_, kernel, diagnostics_);
    read_reference(context, kernel.reference);
  }

  /// A kernel that does not get the bias, scales or groups cannot use them, and one for all epilogues has to be told
  /// which it is.
  void require_epilogue() {
    const auto* gemm = std::get_if<Gemm>(&plan_.problem);
    if (gemm == nullptr || plan_.is_program() || diagnostics_.any()) return;
    const auto require_buffer = [&](const char* name, const char* has, const char* use) {
      for (const Launch& launch : plan_.kernel()->launches)
        for (const Argument& argument : launch.args)
          if (argument.buffer == name) return;
      diagnostics_.add(
          top_.find("launch")->place,
          fmt::format("the problem has {1}, and no launch has '{0}' among its args: this kernel {2}", name, has, use));
    };
    if (gemm->bias != Bias::none) require_buffer("bias", "a bias", "adds none");
    if (gemm->residual) require_buffer("residual", "a residual", "adds none");
    if (gemm->scale_a != Scale::none) require_buffer("scale_a", "a scale_a", "multiplies by none");
    if (gemm->scale_b != Scale::none) require_buffer("scale_b", "a scale_b", "multiplies by none");
    if (gemm->groups() > 0 && gemm->max_rows == 0) require_buffer("group_offsets", "groups", "knows no groups");
    if (gemm->max_rows > 0) require_buffer("group_rows", "groups with max_rows", "knows none");
    if (gemm->epilogue == Epilogue::none || std::ranges::count(plan_.build.defines, "epilogue") > 0) return;
    diagnostics_.add(top_.find("launch")->place,
                     fmt::format("the problem has epilogue: {}, and build.defines does not name 'epilogue', from which "
                                 "kernels know it: this kernel computes none",
                                 to_text(gemm->epilogue)));
  }

  void read_model() {
    const bool gemm = std::holds_alternative<Gemm>(plan_.problem);
    if (const Node* node = top_.find("model")) {
      plan_.cost_rules = read_cost_rules(*node, plan_.problem, scope_, diagnostics_);
    } else if (gemm && is_gpu(plan_.backend()) && !diagnostics_.any()) {
      plan_.cost_rules = inferred_cost_rules(*plan_.kernel(), mappings_, scope_);
      plan_.cost_is_inferred = true;
    }
  }

  void read_reference(const LaunchContext& context, ReferenceRule& reference) {
    if (!std::holds_alternative<Custom>(plan_.problem)) return;
    const Node* node = problem_.reference;
    if (node == nullptr) {
      diagnostics_.add(top_.find("problem")->place,
                       "custom needs reference: {kernel: NAME, args: [...]} or {spec: {...}}");
    } else if (const Node* spec = node->find("spec")) {
      const Fields known(*node, "reference", {"spec"}, diagnostics_);
      reference = TrustedSpec{read_point(*spec, "reference.spec", params_, diagnostics_)};
    } else {
      reference = read_reference_launch(*node, context, scope_, diagnostics_);
    }
  }

  /// A trusted spec need not be in the grid, but it must satisfy the constraints. Throws as `load`.
  void check_trusted_spec() {
    const KernelPlan* kernel = plan_.kernel();
    const auto* trusted = kernel != nullptr ? std::get_if<TrustedSpec>(&kernel->reference) : nullptr;
    if (trusted == nullptr) return;
    const auto point = plan_.space.at(std::span(trusted->settings));
    const auto* rejection = std::get_if<Rejection>(&point);
    if (rejection == nullptr) return;
    diagnostics_.add(problem_.reference->place, fmt::format("reference.spec is pruned: {}", rejection->reason));
    diagnostics_.throw_if_any();
  }

  void read_rules() {
    if (const Node* build = top_.find("build")) {
      plan_.build =
          read_build(*build, source_.folder, plan_.constants, plan_.is_program(), rules_.file_must_exist, diagnostics_);
      std::error_code ignored;
      for (const std::filesystem::path& folder : plan_.build.include)
        if (rules_.file_must_exist && !std::filesystem::is_directory(folder, ignored))
          diagnostics_.add(build->find("include")->place,
                           fmt::format("build.include: there is no folder {}", folder.string()));
    }
    if (plan_.is_program())
      read_program(top_, rules_, mappings_, plan_);
    else if (top_.find("kernel") != nullptr)
      refuse_program_rules(top_, rules_, plan_.kernel()->name);
    const bool times_whole = plan_.is_program() && plan_.program()->times_whole();
    if (times_whole) plan_.measure.warmup = kRunsBeforehand;
    if (const Node* measure = top_.find("measure")) plan_.measure = read_measure(*measure, plan_.measure, diagnostics_);
    if (rules_.state) plan_.measure.state = *rules_.state;
    if (rules_.run_seconds && (!plan_.is_program() || times_whole))
      check_run_seconds(top_.find("measure"), plan_.measure, *rules_.run_seconds, diagnostics_);
  }

  void read_figures() {
    for (const std::string_view name : kFigures) scope_.add_result(std::string(name));
    for (const std::string& figure : rules_.figures)
      if (is_identifier(figure) && !scope_.declares(figure)) scope_.add_result(figure);
    if (const Node* metrics = top_.find("metrics")) {
      plan_.metrics = read_metrics(*metrics, plan_.is_program(), scope_, diagnostics_);
    }
    const bool any_column = plan_.is_program() && rules_.figures.empty();
    std::vector<std::string> names = read_objectives(
        top_.find("objective"),
        {plan_.metrics, rules_.figures, rules_.objectives, any_column, flops_of(plan_.problem) > 0}, diagnostics_);
    if (names.empty()) return;
    plan_.objective = names.front();
    plan_.other_objectives.assign(names.begin() + 1, names.end());
  }

  void read_points() {
    if (params_.empty()) return;
    if (const Node* node = top_.find("default")) {
      plan_.default_settings = read_default(*node, params_, diagnostics_);
      // Without this key they are those of a misspelled one, which has been reported.
      if (const Node* params = top_.find("params")) plan_.default_place = place_of_default(*node, *params);
    }
    if (const Node* node = top_.find("baseline")) {
      const bool has_vendor = !plan_.is_program() && std::holds_alternative<Gemm>(plan_.problem);
      plan_.baselines = read_baselines(*node, source_.folder, params_, has_vendor, diagnostics_);
    }
  }

  void add_device_limits() {
    const auto device = is_gpu(plan_.backend()) && rules_.limits ? rules_.limits(plan_.backend()) : std::nullopt;
    if (!device) return;
    for (const Constraint& limit : device_limits(plan_.kernel()->launches, plan_.backend(), *device, space_names_)) {
      for (std::size_t i = 0; i < mappings_.size(); ++i) {
        if (scope_.known_in(i, limit.expression)) mappings_[i].constraints.push_back(limit);
      }
    }
  }

  const Source& source_;
  const LoadRules& rules_;
  Diagnostics& diagnostics_;
  Fields top_;
  SymbolTable scope_;
  FileSection file_;
  DeviceDefaults device_defaults_;
  ProblemSection problem_;
  std::vector<ParameterMapping> params_;
  std::vector<Space::Mapping> mappings_;
  Names space_names_;
  Plan plan_;
};

}  // namespace

std::span<const FileKey> file_keys() { return kKeys; }

Plan interpret(const Source& source, const LoadRules& rules, Diagnostics& diagnostics) {
  return Interpreter(source, rules, diagnostics).run();
}

}  // namespace tune::config

#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader/load.h"
#include "config/reader/symbol_table.h"
#include "config/yaml/diagnostics.h"
#include "config/yaml/fields.h"
#include "config/yaml/node.h"
#include "config/yaml/params.h"
#include "model/device.h"
#include "model/expression/expression.h"
#include "model/plan.h"
#include "model/space.h"

/// What reads each section of a tuning file; interpreter.cpp calls these in the order in which sections may name each
/// other.
namespace tune::config {

// --- device, device_defaults ---

/// What `device.*` is in expressions: what the device tells, or `device_defaults` of the tuning file. Names are without
/// `device.`.
using DeviceDefaults = std::map<std::string, Value>;

DeviceDefaults read_device_defaults(const Node& node, Backend backend, const SymbolTable& scope,
                                    Diagnostics& diagnostics);

/// Who knows the values of names that are the same for all specs.
struct FixedValueSources {
  const Plan& plan;
  const LoadRules& rules;
  const DeviceDefaults& defaults;
};
/// The values of the scope's names as far as `names` has them. Throws Error(environment) if an expression needs what no
/// device tells.
std::vector<Value> fixed_values(const SymbolTable& scope, const Names& names, const FixedValueSources& sources);

/// Parameters that set the clocks or the power limit of a device (model/device_setting.h) are run-time parameters, with
/// or without `$`. Reports those that nothing can be set by: of an unknown name, of a value that is no whole number, or
/// on a backend whose device does not have it. `params` is the section that `mappings` were read from; an unset
/// `backend` is not known.
void check_device_parameters(const Node& params, std::optional<Backend> backend,
                             std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics);

/// What a GPU cannot launch, as constraints on a spec, so that it is pruned before it is built: the extents of grid and
/// block, a block's threads and shared memory, clusters. `names` are those that the launches were parsed over. Limits
/// that the device does not tell are left out.
std::vector<Constraint> device_limits(std::span<const Launch> launches, Backend backend, const Device& device,
                                      const Names& names);

// --- launch ---

/// What launches may refer to.
struct LaunchContext {
  const KernelPlan& kernel;     ///< that of an entry that names none
  std::vector<Backend> others;  ///< backends of the file's other sources; their entries are not an error
  std::vector<std::string> buffers;
  bool gemm = false;               ///< alpha and beta are arguments of their own type
  std::vector<std::string> pairs;  ///< parameters whose values are pairs: two dimensions at once
  std::string section = "launch";  ///< of the tuning file, for messages
};

/// That of the plan of a kernel, whose problem is known.
LaunchContext launch_context(const Plan& plan, std::vector<Backend> others, std::span<const ParameterMapping> params);

/// Reads the name of a kernel, an extern "C" function.
std::string read_kernel_name(const Node& node, Diagnostics& diagnostics);

/// Reads `launch:`, one mapping or a list of them, into a kernel's plan. Expressions may depend on the spec.
void read_launches(const Node& node, const LaunchContext& context, SymbolTable& scope, KernelPlan& kernel,
                   Diagnostics& diagnostics);

/// Reads a reference kernel's launch, which must not depend on the spec.
Launch read_reference_launch(const Node& node, LaunchContext context, SymbolTable& scope, Diagnostics& diagnostics);

// --- model ---

/// Reads `model:`, one mapping or a list of them. Only a GEMM has tiles, and nothing is known of what a program reads.
std::vector<CostRule> read_cost_rules(const Node& node, const Problem& problem, SymbolTable& scope,
                                      Diagnostics& diagnostics);

/// What the launches of a GEMM's kernel say by themselves: its tile is what the grid divides m and n by, and its slice
/// what anything divides k by. Empty if that is not one tile, or if blocks work in clusters.
std::vector<CostRule> inferred_cost_rules(const KernelPlan& kernel, std::span<const Space::Mapping> mappings,
                                          const SymbolTable& scope);

// --- build, measure, metrics, constraints ---

/// Reads `build:`, but for its `run`. Relative folders and files are relative to `folder`; `defines` name `constants`.
/// With `files_must_exist` it reports files in `depends` that do not exist.
BuildRules read_build(const Node& node, const std::filesystem::path& folder,
                      const std::map<std::string, Value>& constants, bool program_mode, bool files_must_exist,
                      Diagnostics& diagnostics);

/// Reads `measure:`. What it does not say stays as it is in `rules`.
MeasureRules read_measure(const Node& node, MeasureRules rules, Diagnostics& diagnostics);
/// Complains if specs that are timed for max_seconds would be given up at --timeout-run. `measure`: null if absent.
void check_run_seconds(const Node* measure, const MeasureRules& rules, double run_seconds, Diagnostics& diagnostics);

/// Reads `metrics:`. In program mode a name declared nowhere is a column of the program's result and is added to
/// `scope`, and a metric without an expression is the column of its name.
std::vector<Metric> read_metrics(const Node& node, bool program_mode, SymbolTable& scope, Diagnostics& diagnostics);

/// The condition of a constraint, and its reason.
struct ConditionNode {
  const Node* condition;
  std::string reason;
};

/// Reads the entries of `constraints:` or `prune_after_build:`: a text, whose reason is its trailing comment, or
/// {if, because}; without either the reason is the condition itself.
std::vector<ConditionNode> read_conditions(const Node& node, std::string_view what, Diagnostics& diagnostics);

/// Whether a condition is a number or a text instead of a comparison, such as `BM*BN`: it holds wherever it is not 0,
/// which is hardly meant. A name alone is a condition if it may be true or false: a derived value, a property of the
/// device, or a parameter with values such as 0 and 1.
bool compares_nothing(const Expression& condition, const Names& names, std::span<const Space::Mapping> mappings);

// --- run, shell, whole, prepare, cleanup ---

/// Reads how a program is run: `run` (at the top or in `build`), `shell`, `whole`, `prepare` and `cleanup`, and what
/// the command line says before and after its command. Reports placeholders that stand for nothing or for two things,
/// parameters that do not reach the program, what needs a shell, and words behind a shell's text that would not reach
/// the program. The plan has its file and its rules of building, and not yet its space, which has these mappings.
void read_program(const Fields& top, const LoadRules& rules, std::span<const Space::Mapping> mappings, Plan& plan);
/// Reports these keys and settings for a kernel.
void refuse_program_rules(const Fields& top, const LoadSettings& settings, const std::string& kernel);

// --- objective ---

/// What objectives there may be.
struct ObjectiveContext {
  std::span<const Metric> metrics;
  std::span<const std::string> figures;  ///< further columns that are known
  std::span<const std::string> asked;    ///< on the command line, in place of those of the tuning file
  bool any_column = false;               ///< any column that the program may report, whose time alone is known
  bool has_flops = false;
};

/// The names of the objectives, the one that decides first; empty: none is given. `node` may be null. Throws
/// Error(bad_input) for what the command line asks for.
std::vector<std::string> read_objectives(const Node* node, const ObjectiveContext& context, Diagnostics& diagnostics);

// --- default, baseline ---

/// Reads `baseline:`: vendor, a mapping of parameters, a best.yaml's path, or a list of these. `has_vendor`: the
/// problem is one that vendor libraries have a routine for.
std::vector<Baseline> read_baselines(const Node& node, const std::filesystem::path& folder,
                                     const std::vector<ParameterMapping>& mappings, bool has_vendor,
                                     Diagnostics& diagnostics);

/// Reads a mapping of one value for every parameter of one mapping of the union, in its order. Complains of a
/// parameter that is missing or unknown.
std::vector<Setting> read_point(const Node& node, std::string_view what, const std::vector<ParameterMapping>& mappings,
                                Diagnostics& diagnostics);

/// Reads `default:`: one value for some of the parameters.
std::vector<Setting> read_default(const Node& node, const std::vector<ParameterMapping>& mappings,
                                  Diagnostics& diagnostics);
/// Where `default:` stands; empty if the command line has replaced values of its parameters.
std::string place_of_default(const Node& node, const Node& params);

}  // namespace tune::config

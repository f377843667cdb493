#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/command.h"
#include "model/device.h"
#include "model/expression/expression.h"
#include "model/measure_rules.h"
#include "model/problem.h"
#include "model/space.h"

/// A tuning file as data: what to build, launch, measure, check and compare. Knows neither YAML nor results.
namespace tune {

/// One argument of a kernel launch, in the order of the kernel's parameters.
struct Argument {
  /// `buffer` is A, B, C, a custom problem's buffer or `workspace`; `scalar` is `expression` converted to `type`;
  /// `alpha` and `beta` have the accumulator's type. Hashes depend on the order of these, and of Scalar.
  enum class Kind { buffer, scalar, alpha, beta, tensor_map };
  static constexpr std::array<std::string_view, 5> kKinds = {"buffer", "scalar", "alpha", "beta", "tensor_map"};
  /// Types of scalars; `int` unless the file says {i64: ...}, {f32: ...} or {f64: ...}.
  enum class Scalar { i32, i64, f32, f64 };
  static constexpr std::array<std::string_view, 4> kScalars = {"i32", "i64", "f32", "f64"};
  Kind kind = Kind::buffer;
  std::string buffer;                    ///< buffer, tensor_map
  Scalar type = Scalar::i32;             ///< scalar
  std::optional<Expression> expression;  ///< scalar
  std::vector<Expression> box;           ///< tensor_map: elements per dimension, innermost first
  std::optional<Expression> swizzle;     ///< tensor_map: bytes, one of kSwizzles; absent: 0
  std::optional<Expression> l2;          ///< tensor_map: bytes, one of kL2Promotions; absent: 0
};

/// The swizzles and L2 promotions that a tensor map can have, in bytes; 0: none.
inline constexpr std::array<std::int64_t, 4> kSwizzles = {0, 32, 64, 128}, kL2Promotions = {0, 64, 128, 256};

/// A launch that is made several times, each reading what the one before wrote: the first reads buffer `from`, the last
/// writes `to`, and between them `to` and `through` take turns. The arguments say `from` and `to`.
struct Chain {
  Expression times;
  std::string from, to, through;
};

/// One kernel launch. Empty grid, block and cluster on the CPU, where they mean nothing.
struct Launch {
  std::string kernel;
  std::optional<Expression> condition;  ///< `if`: left out of specs for which it does not hold; absent: never
  std::vector<Expression> grid, block, cluster;
  std::optional<Expression> shared;
  /// Where it holds, the launch may begin before the kernel ahead of it in the stream has ended, which the kernel
  /// awaits by griddepcontrol.wait: CUDA's programmatic dependent launch.
  std::optional<Expression> programmatic = {};
  std::vector<Argument> args;
  std::optional<Chain> repeat = {};
};

/// Scratch memory that a kernel gets beside the buffers of the problem.
struct Workspace {
  Expression bytes;
  bool zero = false;  ///< zeroed before every launch, inside the timed region
};

/// How a kernel or program is compiled.
struct BuildRules {
  std::vector<std::string> flags;
  std::vector<std::filesystem::path> include;  ///< absolute
  std::vector<std::filesystem::path> depends;  ///< absolute; files beyond headers whose contents belong to the build
  std::vector<std::string> defines;            ///< names whose values become compile-time: m, n, k
  std::vector<std::string> not_compiled;       ///< derived values that the source does not name
  CommandLine command;                         ///< of a program; empty: by its suffix
};

/// How a program is run and timed. Messages to workers have these, too.
struct ProgramRules {
  CommandLine run = {};                    ///< with placeholders {binary} {args} {file} {output}; empty: by its suffix
  Words prefix = {}, suffix = {};          ///< what stands before and after `run`: a profiler, mpirun, further options
  CommandLine prepare = {}, cleanup = {};  ///< before each timed run of a program, and after its last one
  /// What the time of a program is: that of the whole command (true), or what it reports (false). Unset: the latter if
  /// it reports anything.
  std::optional<bool> whole = false;

  /// Whether the program may report its time.
  bool reads_result() const { return !whole.value_or(false); }
  /// Whether the time is that of the whole command, if the program reports none.
  bool times_whole() const { return whole.value_or(true); }
};

/// A command that is run beside the timed one, as the tuning file, the messages to workers and the identities of trials
/// have it. A new one is a member above, a row of kUntimedCommands, a row of the file's keys, and what the workers do.
struct UntimedCommand {
  const char* name;
  CommandLine ProgramRules::*member;
};

inline constexpr UntimedCommand kUntimedCommands[] = {
    {"prepare", &ProgramRules::prepare},
    {"cleanup", &ProgramRules::cleanup},
};

/// A figure computed from a measurement: `time` (s), `flops`, `bytes`, `energy` (J), the program's own columns,
/// parameters.
struct Metric {
  std::string name;
  std::optional<Expression> expression;  ///< unset: the program's own column of this name
  std::optional<bool> maximize;          ///< unset: by the name's unit
};

/// What the winner is compared with in the finals.
struct Baseline {
  enum class Kind { vendor, params };
  Kind kind = Kind::params;
  std::string label;                ///< "vendor", "baseline", or the best.yaml's file name
  std::vector<Setting> settings;    ///< params
  std::filesystem::path file = {};  ///< the best.yaml they are from, absolute; empty: none
};

/// `reference: {spec: ...}`
struct TrustedSpec {
  std::vector<Setting> settings;
};

/// How a custom problem is checked: by a kernel of the same file, or by a spec that is trusted. Others have none.
using ReferenceRule = std::variant<std::monostate, Launch, TrustedSpec>;

/// An entry of `model:`, from which the model of cost/cost_model.h predicts the times of specs before any is measured.
/// docs/cost-model.md says what the entries mean, and what those are that are left out.
struct CostRule {
  std::optional<Expression> condition;  ///< `if`: of specs for which it holds; absent: of all
  bool streams = false;                 ///< `kind: stream`: reads and writes everything once
  std::vector<Expression> tile;         ///< rows, columns and, if there are three, slice of k
  std::vector<Expression> of;           ///< rows and columns of the product that is tiled
  std::vector<Expression> share;        ///< blocks that use one load of A, of B
  std::vector<Expression> inner;        ///< rows and columns that a thread or warp multiplies at a time
  std::optional<Expression> tiles, split, stages, group, math, store, factor, workers;
  std::optional<Expression> time;  ///< a formula that takes the place of the model's
};

/// A source of `file: [a.cu, b.cu]`.
struct CandidateFile {
  std::string name;            ///< its last names, as many as tell it from the others: `gemm.cu`, `v2/gemm.cu`
  std::filesystem::path path;  ///< absolute
};

/// What only the plan of a kernel says.
struct KernelPlan {
  std::string name;
  Backend backend = Backend::cpu;
  std::vector<Launch> launches = {};
  std::optional<Workspace> workspace = {};
  bool zero_c = false;  ///< c_init: zero; inside the timed region
  ReferenceRule reference = {};
};

/// What only the plan of a program says.
struct ProgramPlan : ProgramRules {
  bool is_command = false;  ///< an installed one, and no file
};

/// A tuning file, understood: everything relative is resolved, every expression is parsed, nothing has been run.
struct Plan {
  std::string name;
  std::filesystem::path yaml;   ///< the (first) tuning file, absolute
  std::filesystem::path file;   ///< of the kernel or program, absolute; empty: of an installed command
  std::string file_as_written;  ///< for the heading; of a command, its words
  /// Of several sources: the parameter kFileParameter has their names, and `file` is the first. Empty: there is one.
  std::vector<CandidateFile> candidates;
  std::variant<KernelPlan, ProgramPlan> subject;
  Problem problem;
  std::map<std::string, Value>
      constants;                   ///< what the problem adds to every scope: m n k batch alpha ..., custom sizes
  std::vector<Expression> counts;  ///< of a custom problem: the elements of each buffer, by its sizes
  Space space;
  /// The space's names with the same slots, followed by what is known only after the build (registers, ...) or the
  /// measurement (time, flops, bytes, energy, a program's columns): what prune_after_build and metrics are parsed over.
  Names result_names;
  std::vector<Setting> default_settings;      ///< of `default:`, maybe not all parameters; empty: none
  std::string default_place;                  ///< `gemm.yaml:14`; empty: the command line changed its parameters
  std::vector<Constraint> prune_after_build;  ///< over the space's names and the build's properties
  std::vector<CostRule> cost_rules;           ///< the first whose condition holds is meant
  bool cost_is_inferred = false;              ///< from the launches, as the file has no `model:`
  BuildRules build;
  MeasureRules measure;
  std::string objective = "time";
  std::vector<std::string> other_objectives;  ///< the further objectives of the Pareto front
  std::vector<Metric> metrics;
  std::vector<Baseline> baselines;

  const KernelPlan* kernel() const { return std::get_if<KernelPlan>(&subject); }
  const ProgramPlan* program() const { return std::get_if<ProgramPlan>(&subject); }
  bool is_program() const { return program() != nullptr; }
  bool is_command() const { return is_program() && program()->is_command; }
  /// Whose worker builds, runs and times it.
  Backend backend() const { return is_program() ? Backend::program : kernel()->backend; }
};

}  // namespace tune

#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader/recorded_result.h"
#include "config/shapes/shapes.h"
#include "config/yaml/node.h"
#include "model/device.h"
#include "model/plan.h"

namespace tune::config {

/// What the command line changes in a tuning file.
struct LoadSettings {
  std::vector<std::string> command;    ///< instead of a tuning file: the words of a command; one word: all of it
  bool shell = false;                  ///< `shell: true`
  bool whole = false;                  ///< `whole: true`
  std::optional<std::int64_t> warmup;  ///< instead of `measure: warmup:`
  std::optional<std::string> prepare, cleanup;          ///< instead of the file's
  std::optional<std::string> exec_prefix, exec_suffix;  ///< words before and after the command of a program
  std::optional<std::int64_t> processes;                ///< of a program, which mpirun starts
  std::optional<std::string> profiler;                  ///< that runs a program, by kbench's names
  std::vector<std::string> params;                      ///< NAME:VALUE or NAME:[a, b]: replaces (with or without `$`)
  std::vector<std::string> new_params;                  ///< the same for parameters that the file does not declare
  std::optional<std::int64_t> m, n, k;                  ///< sizes of the problem; in program mode parameters M, N, K
  std::optional<Shape> shape;                           ///< one line of --shapes
  std::vector<std::string> problem;                     ///< KEY=VALUE: entries of the problem
  std::optional<std::string> configuration;             ///< sizes and parameters as tune_gemm spells them
  std::optional<Backend> backend;                       ///< instead of `backend:`
  std::vector<std::string> objectives;                  ///< instead of `objective:`; the first one decides
  std::optional<PowerState> state;                      ///< instead of `measure: state:`
};

/// For what a tuning file is read, and whom to ask about this machine.
struct LoadRules : LoadSettings {
  /// What the names of a profiler's files begin with; empty: the plan's name.
  std::filesystem::path profile = {};
  std::vector<std::string> figures = {};      ///< additional names of measured values: columns of a recording
  std::optional<double> run_seconds = {};     ///< --timeout-run, where specs are timed
  bool file_must_exist = true;                ///< report it if the kernel file is missing
  bool measured_here = true;                  ///< false: a recording answers all specs
  std::function<bool(Backend)> present = {};  ///< can this backend run here? Unset: any can
  std::function<Device(Backend)> probe = {};  ///< called at most once, and only if an expression uses device.*
  /// The device whose limits prune the launches of a GPU's kernels; nullopt: none is known. Called at most once.
  std::function<std::optional<Device>(Backend)> limits = {};
};

/// A key at the top of a tuning file, in a row of kKeys in interpreter.cpp.
struct FileKey {
  std::string_view name;
  bool is_in_best = false;      ///< the YAML of a best spec has it, too
  bool may_use_names = false;   ///< its texts can say what a parameter does; those of `let` only where they are used
  bool is_of_programs = false;  ///< kernels have no use for it
};
std::span<const FileKey> file_keys();

/// A tuning file, or several joined, after the command line's changes: what write_best copies from.
struct Source {
  std::filesystem::path folder;  ///< absolute; what relative paths in it are relative to
  Node root;                     ///< a mapping
};

struct Loaded {
  Plan plan;
  Source source;
  std::vector<Setting> chosen = {};  ///< of the shape: only specs that have these values are meant
  /// What the file says of its own spec, if it is the only file and has only that one spec, which the command line does
  /// not change.
  std::optional<RecordedResult> result = {};
  std::vector<std::string> warnings = {};  ///< what is allowed and probably a mistake: `FILE:LINE: text` each
};

/// Reads tuning files into a plan. Several must share name and file: their params are joined as a union, their
/// constraints hold for all, anything else must be equal where two say it. Starts nothing and writes nothing.
/// Throws Error(bad_input) with all that is wrong, one `FILE:LINE: text` per line; Error(environment) if no backend of
/// the file is present or the device does not tell a property that an expression needs. `yamls` is empty if the rules
/// have a command.
Loaded load(std::span<const std::filesystem::path> yamls, const LoadRules& rules);

}  // namespace tune::config

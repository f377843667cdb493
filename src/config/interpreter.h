#pragma once
#include "config/file_reader.h"
#include "config/launch_reader.h"
#include "config/load.h"
#include "config/params.h"
#include "config/problem_reader.h"
#include "config/scope.h"

namespace tune::config {

/// Turns one tuning file into a plan, section by section; every section adds the names that later ones may use.
class Interpreter {
 public:
  Interpreter(const Source& source, const LoadOptions& options, Diagnostics& diagnostics);

  /// Throws as `load`.
  Plan run();

 private:
  bool program_mode() const { return file_.backend == Backend::program; }
  /// What already bears a name, or nothing.
  std::string owner_of(const std::string& name) const;

  void read_heading();
  void read_problem_section();
  void read_device_defaults();
  void read_space();
  void read_derived();
  void read_constraints(const Node& node);
  void check_comparison(const Node& node, const Expression& condition, std::string_view what);
  void add_build_names();
  void read_pruning();
  void read_launch();
  void read_reference(const LaunchContext& context);
  /// A trusted spec need not be in the grid, but it must satisfy the constraints. Throws as `load`.
  void check_trusted_spec();
  void read_rules();
  void read_figures();
  void read_objectives();
  void read_points();
  LaunchContext launch_context() const;
  void add_device_limits();
  /// The device that expressions ask; without properties where none is known but the file's defaults will do.
  Device device_in_expressions() const;
  std::vector<Value> fixed_values() const;

  const Source& source_;
  const LoadOptions& options_;
  Diagnostics& diagnostics_;
  Fields top_;
  Scope scope_;
  FileSection file_;
  std::map<std::string, Value> device_defaults_;  ///< without `device.`
  ProblemSection problem_;
  std::vector<ParameterMapping> params_;
  std::vector<Space::Mapping> mappings_;
  Names space_names_;
  Plan plan_;
};

}  // namespace tune::config

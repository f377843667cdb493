#pragma once
#include "config/reader/file_reader.h"
#include "config/reader/load.h"
#include "config/reader/problem_reader.h"
#include "config/reader/sections.h"
#include "config/reader/symbol_table.h"
#include "config/yaml/params.h"

namespace tune::config {

/// Turns one tuning file into a plan, section by section; every section adds the names that later ones may use.
class Interpreter {
 public:
  Interpreter(const Source& source, const LoadRules& rules, Diagnostics& diagnostics);

  /// Throws as `load`.
  Plan run();

 private:
  void read_heading();
  void read_problem_section();
  void read_space();
  Node with_files(Node params);
  void require_epilogue();
  void read_derived();
  void read_constraints(const Node& node);
  void check_comparison(const Node& node, const Expression& condition, std::string_view what);
  void add_build_names();
  void read_pruning();
  void read_launch();
  void read_model();
  void read_reference(const LaunchContext& context, ReferenceRule& reference);
  /// A trusted spec need not be in the grid, but it must satisfy the constraints. Throws as `load`.
  void check_trusted_spec();
  void read_rules();
  void read_figures();
  void read_points();
  void add_device_limits();

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

}  // namespace tune::config

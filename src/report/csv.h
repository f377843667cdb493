#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tune::report {

/// Whether every CSV file has a column of this name.
bool is_fixed_column(std::string_view name);

/// A cell as RFC 4180 has it, quoted only where it must be.
std::string quoted(std::string_view text);

/// Writes the CSV file: the header at once, then a row per spec in the order of the calls, each written as it comes.
/// Quoting is RFC 4180's, lines end in \n, numbers never depend on the locale, unknown cells are empty.
/// Columns: mesh_idx, name, status (ok, early, failed, pruned, pruned after build), the parameters, times in ms,
/// iters, checked, max_error, the metrics, stage, cause, reason; of several devices, device and scaled; where some
/// shared a process, process.
class Csv {
 public:
  /// `params` are the names of all parameters of the space, without `$`.
  Csv(std::ostream& out, std::string name, std::vector<std::string> params, std::vector<Column> columns,
      bool several_devices, bool shared_processes);

  /// `unranked`: why a measured one has no value of the objective.
  void add(const Trial& trial, std::string_view unranked = {});
  void add_pruned(const Spec& spec, std::string_view reason);

 private:
  void begin_row(const Spec& spec, std::string_view status);
  void add_measured(const Spec& spec, const Measurement& measurement, std::string_view unranked);
  void add_unmeasured(std::string_view stage, std::string_view cause, std::string_view reason);
  void cell(std::string_view text);
  void cell(double value);
  void end_row();

  std::ostream& out_;
  std::string name_;
  std::vector<std::string> params_;
  std::vector<Column> columns_;
  bool several_devices_, shared_processes_;
  std::string row_;
};

}  // namespace tune::report

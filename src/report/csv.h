#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tune::report {

/// Whether every CSV file has a column of this name.
bool is_fixed_column(std::string_view name);

/// A cell as RFC 4180 has it, quoted only where it must be. The text itself stays as it is, also one that a spreadsheet
/// would take for a formula.
std::string quoted(std::string_view text);

/// Which columns a CSV file has in addition to those of every CSV file.
struct CsvExtras {
  bool several_devices = false;
  bool tuned = false;
  bool shared_processes = false;  ///< of some specs
  bool finals_interrupted = false;
  bool reported_names = false;  ///< that programs gave
  TimeRule time = {};           ///< of the sweep's times
};

/// Where a spec of a tuning stands in the table.
struct CsvPlace {
  std::size_t place = 0;      ///< 1: the best; 0: none
  double finals_seconds = 0;  ///< 0: it was not in the finals
};

struct CsvCells;

/// Writes the CSV file: the header at once, then a row per spec in the order of the calls, each written as it comes.
/// Quoting is RFC 4180's, lines end in \n, numbers never depend on the locale, unknown cells are empty.
/// The columns are in csv.cpp, one line each: those of every file, and those that only some have; between them the
/// parameters and the metrics.
class Csv {
 public:
  /// `params` are the names of all parameters of the space, without `$`.
  Csv(std::ostream& out, std::string name, std::vector<std::string> params, std::vector<Column> columns,
      CsvExtras extras);

  /// `unranked`: why a measured one has no value of the objective.
  void add(const Trial& trial, std::string_view unranked = {}, CsvPlace place = {});
  void add_pruned(const Spec& spec, std::string_view reason);

 private:
  void add(const CsvCells& cells);
  void cell(std::string_view text);
  void end_row();

  std::ostream& out_;
  std::string name_;
  std::vector<std::string> params_;
  std::vector<Column> columns_;
  CsvExtras extras_;
  std::string row_;
};

}  // namespace tune::report

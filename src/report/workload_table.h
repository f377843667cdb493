#pragma once
#include <optional>
#include <span>
#include <string>

namespace tune::report {

/// The best of one shape of a workload, on one model of devices.
struct WorkloadRow {
  std::string shape;  ///< empty: there is no list of shapes
  std::string model;  ///< empty: all devices are of one
  double calls = 1;
  std::optional<double> seconds;              ///< of one call; unset: no valid spec was found
  std::optional<double> x_default, x_vendor;  ///< how many times as fast as these it is
  std::string found;                          ///< how it was found, or why not
};

/// The table of a workload: a row for each shape, and the time of all calls; of several models of devices a table each,
/// or one with a row for each if there is no list of shapes. On a terminal of `width` columns it loses the columns that
/// do not fit; 0: it is none. Not `complete`: the run ended before it came to the others.
std::string workload_text(std::span<const WorkloadRow> rows, bool complete, int width);

}  // namespace tune::report

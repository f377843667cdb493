#pragma once
#include <optional>
#include <span>
#include <string>

#include "report/summary.h"

namespace tune::report {

/// The whole result for standard output: verdict, heading, table, best params, elapsed time, notes, and what did not
/// make it.
///
/// Finalists and baselines show their figures from the finals, the other rows those of the sweep. `met (ms)` is the
/// median, `iters` the timed launches, `+- %` half the 95 % confidence interval of the median relative to it, `x NAME`
/// how many times as fast as baseline NAME a finalist is (more than 1: faster). Baselines stand below the specs. Rows
/// of specs with the same code show the figures of the one that was timed.
///
/// On a terminal the text is no wider than that, commands excepted. Hidden characters in it are escaped; with
/// `Summary::colors` it has escape sequences of its own: the best is bold, ties and failures have colours.
std::string result_text(const Summary& summary);

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

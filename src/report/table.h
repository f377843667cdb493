#pragma once
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

}  // namespace tune::report

#pragma once
#include "model/error.h"
#include "options.h"

namespace tune {

/// Compares strategies on recorded runs and prints, per recording and strategy, which share of the optimum is reached
/// after each budget, its difference to uniform random, and after how many specs it is nearly reached. One evaluation
/// is one distinct spec, failed ones count. Runs on several threads; the figures do not depend on how many.
ExitCode simulate_bench(const SimulateBenchOptions& options);

}  // namespace tune

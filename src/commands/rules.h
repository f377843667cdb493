#pragma once
#include <string>
#include <vector>

#include "config/load.h"
#include "exec/workers.h"
#include "exec/measure_service.h"
#include "flow/grid.h"
#include "flow/machine.h"
#include "flow/outputs.h"
#include "flow/resume.h"
#include "flow/searching.h"
#include "flow/tuning.h"
#include "options.h"
#include "report/progress.h"

namespace tune {

// What the command line asks of each part of a run. No other file turns options into the rules of these parts.

/// How the command line changes a tuning file, whether its specs are measured or replayed.
LoadOptions load_options(const Options& options);
GridRules grid_rules(const Options& options);
SearchRules search_rules(const Options& options);
MachineRules machine_rules(const Options& options, const Outputs& outputs);
ResumeRules resume_rules(const Options& options);
/// `suffix` tells the shapes of --shapes apart.
OutputRules output_rules(const Options& options, std::string suffix = "");
ResultsRules results_rules(const Options& options);
Demands demands(const Options& options);
report::ProgressStyle progress_style(const Options& options);
/// Throws Error(environment) if the backend's worker is not installed.
MeasureOptions measure_options(const Options& options, const Workers& workers, Backend backend);

/// How many builds run at a time.
int jobs(const Options& options);
/// The workers of this installation.
Workers find_workers(const Options& options);
/// The words that, with `--spec N` after them, run one spec again: what selects the grid, not what chooses from it.
std::vector<std::string> reproducing_command(const Options& options);

}  // namespace tune

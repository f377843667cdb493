#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/load.h"
#include "exec/measure_service.h"
#include "exec/workers.h"
#include "flow/failure_logs.h"
#include "flow/grid.h"
#include "flow/machine.h"
#include "flow/outputs.h"
#include "flow/resume.h"
#include "flow/searching.h"
#include "flow/tuning.h"
#include "options/options.h"
#include "report/build_table.h"
#include "report/progress.h"

namespace tune::commands {

/// What messages call the input of a run: its (first) tuning file, or the command behind `--`.
std::string name_of_input(const Options& options);

// What the command line asks of each part of a run. No other file turns options into the rules of these parts.

/// How the command line changes a tuning file, whether its specs are measured or replayed.
config::LoadOptions load_options(const Options& options);
/// The file of --device-file, which may be the name of a device. Throws Error(bad_input).
std::optional<std::filesystem::path> device_file(const Options& options);
flow::GridRules grid_rules(const Options& options);
flow::SearchRules search_rules(const Options& options);
flow::MachineRules machine_rules(const Options& options, const flow::Outputs& outputs);
flow::ResumeRules resume_rules(const Options& options);
/// `suffix` tells the shapes of --shapes apart.
flow::OutputRules output_rules(const Options& options, std::string suffix = "");
flow::LogRules log_rules(const Options& options, const flow::Outputs& outputs);
/// `csv`: the file that will have all specs; empty: none.
flow::ResultsRules results_rules(const Options& options, const std::filesystem::path& csv = {});
/// How a dry run and --build-only list specs on stdout.
report::ListLook list_look(const Options& options, const Plan& plan);
report::ProgressStyle progress_style(const Options& options, const Plan& plan);
/// Bytes that a store which nobody has named may hold.
inline constexpr std::int64_t kStoreLimit = std::int64_t{10} << 30;
/// Where build artifacts lie.
base::StorePlaces store_places(const Options& options);
/// Throws Error(environment) if the backend's worker is not installed.
exec::MeasureOptions measure_options(const Options& options, const exec::Workers& workers, Backend backend);

/// How many builds run at a time.
int jobs(const Options& options);
/// The workers of this installation.
exec::Workers find_workers(const Options& options, exec::Cluster* cluster = nullptr);
/// The words that, with `--spec N` after them, run one spec again: what selects the grid, not what chooses from it.
std::vector<std::string> reproducing_command(const Options& options);

}  // namespace tune::commands

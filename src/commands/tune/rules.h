#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/job.h"
#include "exec/device/measure_service.h"
#include "exec/workers.h"
#include "report/build_table.h"
#include "report/progress.h"
#include "results/failure_logs.h"
#include "results/outputs.h"
#include "tuning/grid.h"
#include "tuning/journal_lookup.h"
#include "tuning/machine.h"

namespace tune::commands {

/// What messages call the input of a run: its (first) tuning file, or the command behind `--`.
std::string name_of_input(const TuneOptions& options);

/// It has the tuning files that are installed with `tune`.
std::filesystem::path folder_of_configs();
/// It has the files of known devices.
std::filesystem::path folder_of_devices();

// What follows from several options for one part of a run. What one option sets is a field of that part's settings.

/// The file of --device-file, which may be the name of a device. Throws Error(bad_input).
std::optional<std::filesystem::path> device_file(const TuneOptions& options);
tuning::GridRules grid_rules(const TuneOptions& options, const tuning::SearchRules& search);
tuning::MachineRules machine_rules(const TuneOptions& options, const Job& job, const results::Outputs& outputs);
tuning::LookupRules lookup_rules(const TuneOptions& options, const Job& job);
results::OutputRules output_rules(const TuneOptions& options, const Job& job);
results::LogRules log_rules(const TuneOptions& options, const results::Outputs& outputs);
/// How results are printed on stdout.
results::ResultsRules printed_results(const TerminalOptions& terminal);
/// `csv`: the file that will have all specs; empty: none.
results::ResultsRules results_rules(const TuneOptions& options, const Job& job, const std::filesystem::path& csv = {});
/// How a dry run and --build-only list specs on stdout.
report::ListLook list_look(const TuneOptions& options, const Plan& plan);
report::ProgressStyle progress_style(const TuneOptions& options, const Job& job, const Plan& plan);
/// Bytes that a store which nobody has named may hold.
inline constexpr std::int64_t kStoreLimit = std::int64_t{10} << 30;
platform::StorePlaces store_places(const StoreOptions& options);
/// Throws Error(environment) if the backend's worker is not installed.
exec::MeasureOptions measure_options(const TuneOptions& options, const exec::Workers& workers, Backend backend);

/// The workers of this installation.
exec::Workers find_workers(const exec::Deadlines& deadlines = {}, exec::OtherMachines* others = nullptr);
/// The words that, with `--spec N` after them, run one spec again: what selects the grid, not what chooses from it.
std::vector<std::string> reproducing_command(const TuneOptions& options, const Job& job);

}  // namespace tune::commands

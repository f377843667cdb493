#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/target.h"
#include "exec/device/measure_service.h"
#include "report/progress.h"
#include "results/outputs.h"
#include "search/strategy.h"
#include "tuning/forecast.h"
#include "tuning/grid.h"
#include "tuning/machine.h"
#include "tuning/tuner.h"

namespace tune::commands {

// What follows from several options, or from them and the job, for one part of a run: its rules. What the user says is
// in that part's settings, to whose fields the options are bound, and is not changed here.

/// The clock of a tuning.
report::Progress::Time now();
/// What messages call the input of a run: its (first) tuning file, or the command behind `--`.
std::string name_of_input(const SharedOptions& options);

tuning::MachineRules machine_rules(const SharedOptions& options, const Job& job, const results::Outputs& outputs);
results::OutputRules output_rules(const SharedOptions& options, const Job& job);
/// PREFIX of the files of a command that tunes the same several times, which is called `ending`, in the folder of
/// journals.
std::string prefix_in_state_folder(const TuneOptions& options, const std::string& ending);
/// `csv`: the file that will have all specs; empty: none.
results::ResultsRules results_rules(const SharedOptions& options, const Job& job, const std::filesystem::path& csv);
report::ProgressStyle progress_style(const SharedOptions& options, const Job& job, const Plan& plan);
/// Throws Error(environment) if the backend's worker is not installed.
exec::WorkerRules worker_rules(const SharedOptions& options, const exec::Workers& workers, Backend backend);

/// Has the processes of several tunings rest there between them; null: there are none yet.
void keep_processes_in(std::shared_ptr<exec::WorkerPool>& pool, exec::WorkerRules& rules);

/// `tune`, the words of the options, and behind `--` the command that is tuned.
std::vector<std::string> command_line(std::vector<std::string> given, const std::vector<std::string>& command);
/// The words that, with `--spec N` after them, run one spec again: what selects the grid, not what chooses from it.
std::vector<std::string> reproducing_command(const SharedOptions& options, const Job& job);

/// Whether the run times the one spec of a best.yaml again, which is compared with what the file says of it.
bool repeats_result(const Target& target);

/// `grid` is unset if one spec is run without knowing the others.
std::unique_ptr<search::Strategy> strategy_of(Target& target, const std::optional<tuning::Grid>& grid,
                                              results::Notices& notes);
/// How many specs are tried at most.
std::int64_t count_of(const Job& job, const std::optional<tuning::Grid>& grid);
tuning::TunerRules tuner_rules(const Target& target, const std::optional<tuning::Grid>& grid, const Device& device,
                               std::size_t devices);
/// What can be foreseen of the run's end.
report::RunLimits limits_of(const Target& target, const tuning::TunerRules& rules, std::int64_t count);
/// What is to be done, with so many devices.
tuning::Work work_to_do(const Target& target, const std::optional<tuning::Grid>& grid, bool has_build,
                        std::int64_t count, std::size_t devices);

}  // namespace tune::commands

#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "commands/tune/target.h"
#include "exec/device/measure_service.h"
#include "report/progress.h"
#include "search/strategy.h"
#include "tuning/finals_stage.h"
#include "tuning/forecast.h"
#include "tuning/tuner.h"

namespace tune::commands {

// What the command line and the job ask of each of its parts.

/// The clock of a tuning.
report::Progress::Time now();

/// Whether the run times the one spec of a best.yaml again, which is compared with what the file says of it.
bool repeats_result(const TuneOptions& options, const Target& target);

/// `grid` is unset if one spec is run without knowing the others.
std::unique_ptr<search::Strategy> strategy_of(Target& target, const std::optional<tuning::Grid>& grid,
                                              results::Notices& notes);
/// How many specs are tried at most.
std::int64_t count_of(const Job& job, const std::optional<tuning::Grid>& grid);
tuning::TunerRules tuner_rules(const TuneOptions& options, const Target& target,
                               const std::optional<tuning::Grid>& grid, const Device& device, std::size_t devices);
/// What can be foreseen of the run's end.
report::RunLimits limits_of(const TuneOptions& options, const Target& target, const tuning::TunerRules& rules,
                            std::int64_t count);
/// What is to be done, with so many devices.
tuning::Work work_to_do(const TuneOptions& options, const Target& target, const std::optional<tuning::Grid>& grid,
                        bool has_build, std::int64_t count, std::size_t devices);
/// `one_process`: the device admits one process at a time. `stored` are artifacts of earlier runs that take part.
tuning::FinalsStageRules finals_rules(const TuneOptions& options, const Target& target, bool one_process,
                                      report::Progress::Time sweep_began, std::vector<exec::Contender> stored);

}  // namespace tune::commands

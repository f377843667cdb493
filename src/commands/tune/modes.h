#pragma once
#include <deque>
#include <functional>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "model/values/error.h"

namespace tune::commands {

// What `tune` itself can do, in a file of its name each. All throw Error, and Interrupted where processes run.

/// `--dry-run`: lists the specs and what prunes the others, for each problem of `--shapes`; with `--quiet` it counts
/// them. Starts nothing that times.
ExitCode dry_run(const TuneOptions& options);
/// `--build-only`: builds every spec and runs none.
ExitCode build_only(Target& target);
/// Without another mode: tries the specs, with `--tune` in search of the best, and reports and writes what it found.
/// Does so for each problem of `--shapes`, and with `--per-device-model` for each model, one after the other, with one
/// journal, whose searches begin with the winners of those before them; with `--tune` prints a table of all and adds
/// the winners to a database. Writes `--tuning_results_file`.
ExitCode tune_all(const TuneOptions& options);
/// A mode, for one target.
using TargetCommand = std::function<ExitCode(Target&)>;
/// Is given all targets of a model before the first of them is run.
using BeforeTargets = std::function<void(std::deque<Target>&)>;
/// Runs it for the tuning file, or with `--shapes` for each problem of the list, and with `--per-device-model` for each
/// model of the devices; `before` is for several only.
ExitCode for_each_target(const TuneOptions& options, const TargetCommand& command, const BeforeTargets& before = {});

/// `--probe`: prints the device of a backend as a device file.
ExitCode probe(const TuneOptions& options);
/// `--simulate`: tunes on a recorded run. Specs are answered from it, in the order they are asked for, and its seconds
/// pass on a clock of its own; no worker, device or journal takes part. The space is that of the tuning file, or
/// without one what was recorded. For a spec that is not in the recording nothing is written.
ExitCode simulate(const TuneOptions& options);

}  // namespace tune::commands

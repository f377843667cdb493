#pragma once
#include <functional>
#include <optional>

#include "commands/target.h"
#include "config/shapes.h"
#include "exec/workers.h"
#include "model/values/error.h"
#include "options/options.h"

namespace tune::commands {

// What a user can ask for: one function each, in a file of its name. All throw Error, and Interrupted where processes
// run.

/// Does what the command line asks for.
ExitCode run(const Options& options);

/// `--dry-run`: lists the specs and what prunes the others; with `--quiet` it counts them. Starts nothing that times.
ExitCode dry_run(const Options& options, Target& target);
/// `--build-only`: builds every spec and runs none.
ExitCode build_only(const Options& options, Target& target);
/// Without another command: tries the specs, with `--tune` in search of the best, and reports and writes what it found.
ExitCode tune(const Options& options, Target& target);
/// `--tuning_results_file`: the same, and writes one file with the best spec of each problem.
ExitCode tune_to_one_file(const Options& options);
/// One of these.
using TargetCommand = std::function<ExitCode(const Options&, Target&)>;
/// Does it for the tuning file, or with `--shapes` for each problem of the list.
ExitCode for_each_shape(const Options& options, const TargetCommand& command);

/// `--probe`: prints the device of a backend as a device file.
ExitCode probe(const Options& options);
/// `--simulate`: tunes on a recorded run. Specs are answered from it, in the order they are asked for, and its seconds
/// pass on a clock of its own; no worker, device or journal takes part. The space is that of the tuning file, or
/// without one what was recorded. For a spec that is not in the recording nothing is written.
ExitCode simulate(const Options& options);
/// `tune simulate-bench`: compares strategies on recorded runs and prints, per recording and strategy, which share of
/// the optimum is reached after each budget, its difference to uniform random, and after how many specs it is nearly
/// reached. One evaluation is one distinct spec, failed ones count. Runs on several threads; the figures do not depend
/// on how many.
ExitCode simulate_bench(const SimulateBenchOptions& options);
/// `tune convert IN OUT`: writes a recorded run in another format.
ExitCode convert(const ConvertOptions& options, const std::vector<std::string>& command);
/// `tune show RUN`: prints the results of an earlier run as they were printed then, or what it is asked for of them.
ExitCode show(const ShowOptions& options);
/// `tune cache info|clear|verify`: looks after the build store. check_failed: something in it is damaged.
ExitCode cache(const CacheOptions& options);
/// `tune audit`: repeats a tuning, real or on recordings, and prints how far its answers can be trusted: how often the
/// winner changed, its regret, whether a journal gives the same answer again. Writes PREFIX.csv. check_failed: a limit
/// that was asked for is not met; none_valid: no run found a valid spec.
ExitCode audit(const Options& options);

}  // namespace tune::commands

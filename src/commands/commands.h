#pragma once
#include <functional>
#include <optional>

#include "cli/options.h"
#include "commands/tune/target.h"
#include "config/shapes/shapes.h"
#include "exec/workers.h"
#include "model/values/error.h"

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
/// Does so for each problem of `--shapes`, and with `--per-device-model` for each model, one after the other, with one
/// journal, whose searches begin with the winners of those before them; with `--tune` prints a table of all and adds
/// the winners to a database. Writes `--tuning_results_file`.
ExitCode tune_all(const Options& options);
/// One of these.
using TargetCommand = std::function<ExitCode(const Options&, Target&)>;
/// Does it for the tuning file, or with `--shapes` for each problem of the list, and with `--per-device-model` for each
/// model of the devices.
ExitCode for_each_target(const Options& options, const TargetCommand& command);

/// `--probe`: prints the device of a backend as a device file.
ExitCode probe(const Options& options);
/// `--simulate`: tunes on a recorded run. Specs are answered from it, in the order they are asked for, and its seconds
/// pass on a clock of its own; no worker, device or journal takes part. The space is that of the tuning file, or
/// without one what was recorded. For a spec that is not in the recording nothing is written.
ExitCode simulate(const Options& options);
/// `tune shapes LOG...`: prints or writes the shapes of logs as a list for --shapes, with their calls, the most work
/// first.
ExitCode list_shapes(const ListShapesOptions& options);
/// `tune convert IN OUT`: writes a recorded run in another format.
ExitCode convert(const ConvertOptions& options, const std::vector<std::string>& command);
/// `tune diff OLD NEW`: compares two results, prints what changed and writes the files that were asked for.
/// check_failed: something became slower beyond noise and the threshold, or fails now.
ExitCode diff(DiffOptions options);
/// `tune merge`: adds the results of best YAML files and databases to a database.
ExitCode merge(const MergeOptions& options);
/// `tune lookup`: prints the best configuration that a database has for some sizes. none_valid: it has none.
ExitCode lookup(const Options& options);
/// `tune cover`: finds the fewest binaries that are nearly as fast as the best of each size, and adds them to the
/// database with the rule that chooses among them.
ExitCode cover(const CoverOptions& options);
/// `tune export`: writes what a program needs to use the results of a database.
ExitCode export_results(const ExportOptions& options);
/// `tune report RUN... -o FILE`: writes a page that shows recorded runs in a browser.
ExitCode report(ReportOptions options);
/// `tune show RUN`: prints the results of an earlier run as they were printed then, or what it is asked for of them.
ExitCode show(const ShowOptions& options);
/// The same of a database of results: prints all of them.
ExitCode show_database(const ShowOptions& options);
/// `tune kokkos -- PROGRAM`: runs a program that tunes itself until all is decided, and compares runs without and with
/// the result. none_valid: the program asks for no values, or fails, or something is still open.
ExitCode kokkos(const KokkosOptions& options);
/// `tune cache info|clear|verify`: looks after the build store. check_failed: something in it is damaged.
ExitCode cache(const CacheOptions& options);
/// `tune agent`: works for a run on another machine until that ends.
ExitCode agent(const AgentOptions& options);
/// `tune audit`: repeats a tuning, real or on recordings, and prints how far its answers can be trusted: how often the
/// winner changed, its regret, whether a journal gives the same answer again. Writes PREFIX.csv. check_failed: a limit
/// that was asked for is not met; none_valid: no run found a valid spec.
ExitCode audit(const Options& options);

}  // namespace tune::commands

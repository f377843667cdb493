#include "commands/commands.h"

namespace tune::commands {

ExitCode run(const Options& options) {
  if (options.audit) return audit(options);
  if (options.convert) return convert(*options.convert, options.command);
  if (options.show) return show(*options.show);
  if (options.cache) return cache(*options.cache);
  if (options.simulate) return simulate(options);
  if (options.simulate_bench) return simulate_bench(*options.simulate_bench);
  if (options.probe) return probe(options);
  if (options.dry_run) return for_each_shape(options, dry_run);
  if (options.build_only) return for_each_shape(options, build_only);
  if (options.tuning_results) return tune_to_one_file(options);
  return for_each_shape(options, [](const Options& each, Target& target) { return tune(each, target); });
}

}  // namespace tune::commands

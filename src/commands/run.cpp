#include "commands/commands.h"
#include "commands/messages.h"
#include "platform/files/user_folders.h"

namespace tune::commands {

ExitCode run(const Options& options) {
  if (options.audit) return audit(options);
  if (options.convert) return convert(*options.convert, options.command);
  if (options.diff) return diff(*options.diff);
  if (options.merge) return merge(*options.merge);
  if (options.list_shapes) return list_shapes(*options.list_shapes);
  if (options.lookup) return lookup(options);
  if (options.cover) return cover(*options.cover);
  if (options.exporting) return export_results(*options.exporting);
  if (options.report) return report(*options.report);
  if (options.show) return show(*options.show);
  if (options.kokkos) return kokkos(*options.kokkos);
  if (options.cache) return cache(*options.cache);
  if (options.agent) return agent(*options.agent);
  if (options.simulate) return simulate(options);
  if (options.probe) return probe(options);
  if (const std::string text = platform::folders_used_instead(); !text.empty() && !(options.output && options.store))
    print_wrapped("note: " + text);
  if (options.dry_run) return for_each_target(options, dry_run);
  if (options.build_only) return for_each_target(options, build_only);
  return tune_all(options);
}

}  // namespace tune::commands

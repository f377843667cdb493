#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "commands/tune/default_file.h"
#include "commands/tune/modes.h"
#include "commands/tune/options.h"
#include "platform/files/log.h"
#include "platform/files/user_folders.h"
#include "platform/store/store_care.h"

namespace tune::commands {
namespace {

// What other users have in a shared store stays.
void empty_store(const platform::StorePlaces& places) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(places.folder, ignored)) return;
  const platform::Store store(places);
  const std::vector<platform::StoreEntry> entries = platform::entries_of(store.folder());
  const auto removed = std::ranges::count_if(entries, platform::remove_entry);
  print_wrapped(fmt::format("note: {} of the {} entries of the build store were removed", removed, entries.size()));
}

ExitCode run_mode(const TuneOptions& given) {
  const TuneOptions options = with_tuning_file(given);
  if (options.mode == Mode::simulate) return simulate(options);
  if (options.mode == Mode::probe) return probe(options);
  if (const std::string text = platform::folders_used_instead();
      !text.empty() && !(options.job.prefix && options.store.store))
    print_wrapped("note: " + text);
  if (options.mode == Mode::dry_run) return dry_run(options);
  if (options.clear_cache) empty_store(store_places(options.store));
  if (options.mode == Mode::build_only)
    return for_each_target(options, [&](Target& target) { return build_only(target); });
  return tune_all(options);
}

ExitCode run(const TuneOptions& options) {
  if (options.terminal.verbose) platform::log_verbosely();
  return with_exit_undecided(run_mode(options), options.exit_undecided);
}

}  // namespace

extern const cli::CommandSpec kTune = cli::command_spec<TuneOptions, bind_tune, run>(
    "tune",
    "Finds the fastest parameters of a CUDA, HIP or CPU kernel or of a program: builds, checks and times every "
    "combination of their values, and ranks them.");

}  // namespace tune::commands

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "exec/build/builder.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "platform/store/store_care.h"
#include "recording/earlier_runs.h"

namespace tune::commands {
namespace {

/// `tune cache`.
struct CacheOptions {
  std::string what;  ///< info, clear, verify
  std::optional<std::filesystem::path> store;
};

void bind(cli::Command& command, CacheOptions& options) {
  const auto what = [&](const std::string& text) { options.what = text; };
  command.choice("WHAT", what, "info|clear|verify", "What it holds, remove all of it, or find what is damaged")
      .required();
  command.path("--store", options.store, "DIR", "This store instead of your own");
}

std::int64_t bytes_of(const std::vector<platform::StoreEntry>& entries) {
  std::int64_t bytes = 0;
  for (const platform::StoreEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

/// A line about the journals in the user's own folder; empty: there are none.
std::string journals_text() {
  const std::vector<recording::EarlierRun> runs = recording::earlier_runs();
  std::int64_t bytes = 0;
  for (const recording::EarlierRun& run : runs) bytes += run.bytes;
  if (runs.empty()) return "";
  return fmt::format("journals of runs without --output: {}, {}, in {}; tune show --list names them\n", runs.size(),
                     bytes_text(bytes), platform::state_folder().string());
}

ExitCode info(const platform::StorePlaces& places, const std::vector<platform::StoreEntry>& entries) {
  std::string text =
      fmt::format("store: {}\nentries: {}\nsize: {}{}\n", places.folder.string(), entries.size(),
                  bytes_text(bytes_of(entries)), places.limit > 0 ? " of at most " + bytes_text(places.limit) : "");
  if (!entries.empty()) text += "not used for longest: since " + minute_text(entries.front().used) + "\n";
  print_lines(text + journals_text());
  return ExitCode::ok;
}

ExitCode clear(const std::vector<platform::StoreEntry>& entries) {
  std::vector<platform::StoreEntry> removed;
  for (const platform::StoreEntry& entry : entries)
    if (platform::remove_entry(entry)) removed.push_back(entry);
  platform::print(
      fmt::format("removed: {} of {} entries, {}\n", removed.size(), entries.size(), bytes_text(bytes_of(removed))));
  if (removed.size() < entries.size()) print_wrapped("note: what belongs to other users, or cannot be removed, stays");
  return ExitCode::ok;
}

/// Which folder this is, and since when; another one in its place differs. Nothing: there is none.
std::optional<std::array<std::int64_t, 3>> stamp_of(const std::filesystem::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return std::nullopt;
  return std::array<std::int64_t, 3>{static_cast<std::int64_t>(status.st_ino), status.st_ctim.tv_sec,
                                     status.st_ctim.tv_nsec};
}

// Others may remove it meanwhile, and put another in its place.
bool is_damaged(const platform::Store& store, const std::filesystem::path& entry) {
  while (const auto stamp = stamp_of(entry))
    if (exec::read_entry(store, entry, entry.filename()))
      return false;
    else if (stamp_of(entry) == stamp)
      return true;
  return false;
}

ExitCode verify(const platform::Store& store, const std::vector<platform::StoreEntry>& entries) {
  std::size_t damaged = 0;
  for (const platform::StoreEntry& entry : entries) {
    if (!is_damaged(store, store.folder() / entry.path.filename())) continue;
    ++damaged;
    platform::print("damaged: " + entry.path.string() + "\n");
  }
  platform::print(fmt::format("verified: {} entries, {} damaged\n", entries.size(), damaged));
  if (damaged == 0) return ExitCode::ok;
  print_wrapped("note: what is damaged is never run; it is built again by the next run that needs it");
  return ExitCode::check_failed;
}

ExitCode cache(const CacheOptions& options) {
  const platform::StorePlaces places = store_places({options.store, {}, {}});
  if (places.folder.empty() || !std::filesystem::is_directory(places.folder)) {
    print_lines(fmt::format("store: {}, which is not there yet\n{}",
                            places.folder.empty() ? "no folder" : places.folder.string(), journals_text()));
    return ExitCode::ok;
  }
  const std::vector<platform::StoreEntry> entries = platform::entries_of(places.folder);
  // A store that others have filled can be looked at, but not written to.
  if (options.what == "info" && places.named) return info(places, entries);
  const platform::Store store(places);
  if (options.what == "info") return info(places, entries);
  return options.what == "clear" ? clear(entries) : verify(store, entries);
}

}  // namespace

extern const cli::CommandSpec kCache = cli::command_spec<CacheOptions, bind, cache>(
    "cache", "Look after the build store: tune cache info, clear or verify");

}  // namespace tune::commands

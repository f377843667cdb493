#include "exec/build/input_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::exec {
namespace fs = std::filesystem;

InputWatch::InputWatch(const RequestFactory& requests)
    : files_(requests.files()),
      builds_write_(!requests.plan().build.command.empty()),
      is_run_as_it_is_(!requests.has_build() && requests.plan().program()->prepare.empty()) {
  std::error_code ignored;
  for (const fs::path& file : files_.paths()) known_.insert(fs::weakly_canonical(file, ignored));
}

void InputWatch::tell(RunObserver* observer) {
  observer_ = observer;
  if (observer_ != nullptr && !untold_.empty()) observer_->warning(std::exchange(untold_, {}));
}

// A build.command may make a header in each build, as make does, which is there from the first one on.
std::optional<platform::WatchedFiles::Change> InputWatch::unchanged_content() {
  using Event = platform::WatchedFiles::Event;
  const auto change = files_.change();
  if (!change || (builds_write_ && change->event != Event::changed)) return std::nullopt;
  if (change->event == Event::rewritten) return change;
  throw Error(
      ExitCode::environment,
      change->file.string() +
          (change->event == Event::changed ? " has changed" : " is new, and may be included instead of another") +
          " since this run began. What was made of it is thrown away; the results so far are in the journal, "
          "as those of the version before. The same command measures the new version" +
          (builds_write_ ? "; if the build writes this file itself, let it write beside {binary}" : ""));
}

int InputWatch::rewritten() {
  const auto change = unchanged_content();
  if (!change) return rewritten_;
  if (observer_ != nullptr)
    observer_->news(change->file.string() +
                    " was written to, with the content that it had; what was being built is built again");
  return ++rewritten_;
}

void InputWatch::check_unbuilt() {
  if (is_run_as_it_is_) unchanged_content();
}

/// Whether a known file has the same name. A build of a copy of these files, in another folder, has the same key.
bool InputWatch::has_namesake(const fs::path& file) const {
  return std::ranges::any_of(known_, [&](const fs::path& known) { return known.filename() == file.filename(); });
}

void InputWatch::note_reads(const std::vector<std::string>& files) {
  std::vector<std::string> unknown;
  const bool is_of_copy = std::ranges::none_of(files, [&](const std::string& file) { return known_.contains(file); });
  for (const std::string& file : files)
    if (!known_.contains(file) && !(is_of_copy && has_namesake(file))) unknown.push_back(file);
  if (unknown.empty() || std::exchange(warned_, true)) return;
  const std::size_t others = unknown.size() - 1;
  untold_ =
      fmt::format("builds read {}{}: when it changes, nothing is built anew; name it in build.depends", unknown.front(),
                  others == 0 ? "" : " and " + plural(others, "other file") + " that tune does not know of");
  tell(observer_);
}

}  // namespace tune::exec

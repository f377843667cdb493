#pragma once
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "exec/build/input_watch.h"
#include "exec/process/worker_launcher.h"
#include "platform/store/store.h"

namespace tune::exec {

/// A built file in the store.
struct Artifact {
  std::filesystem::path path;
  BuildInfo info;
  std::vector<std::string> reads = {};  ///< wire::Built::reads
};

/// What is in an entry of the store; nullopt if it is damaged. Throws Error(environment) if another user can change it.
std::optional<Artifact> read_entry(const platform::Store& store, const std::filesystem::path& entry,
                                   const std::string& key);

/// Turns build keys into artifacts: each key is looked up in the store once and built at most once per run, by a
/// process of its own. A failed build is remembered for this run at most.
class Builder {
 public:
  using Result = std::variant<Artifact, Failure>;

  /// `launcher` must outlive this. The files of `requests` are watched. `jobs`: processes at a time. If nothing is to
  /// be built, what the store does not have has failed.
  Builder(const WorkerLauncher& launcher, const RequestFactory& requests, platform::StorePlaces store, int jobs,
          bool builds);
  /// Discards unfinished builds, whose processes must have ended, and what a store that has grown too large can spare.
  ~Builder();
  Builder(const Builder&) = delete;

  /// The result of a key that was built, is in the store, or failed; null if it still has to be built.
  const Result* find(const std::string& key);
  /// Does what `find` does, right before an artifact is loaded: returns null also if the file is gone or has changed.
  const Result* find_intact(const std::string& key);
  /// What the store has of an earlier build, whose source may be another one; nullopt: nothing that is intact.
  std::optional<Artifact> stored(const std::string& key);
  /// Queues a build unless its key is already known, queued or running.
  void want(const std::string& key, const wire::BuildRequest& request);
  /// Does the same for what is built only while nothing else is queued. Returns whether it has to be built.
  bool want_later(const std::string& key, const wire::BuildRequest& request);
  /// Forgets what is queued, but for what is wanted later, and failures that another attempt may not have.
  void end_tuning();
  /// Starts queued builds as long as fewer than `jobs` run.
  void start_queued();
  int queued() const { return static_cast<int>(queue_.size()); }
  int running() const { return static_cast<int>(running_.size()); }
  bool is_building(platform::ProcessHost::Id process) const { return running_.contains(process); }
  /// Where artifacts lie. Throws what platform::Store throws.
  platform::Store& store();
  /// Seconds in build processes that have ended.
  double seconds() const { return seconds_; }
  InputWatch& inputs() { return inputs_; }

  /// Handles a process event; returns false if it is not one of ours. After an Ended event a result may be available.
  /// A build during which its files were written to is queued again. Throws Error(environment) if they have changed.
  bool handle(const platform::ProcessHost::Event& event);

 private:
  struct Job {
    std::string key;
    platform::LockedFolder folder;
    wire::BuildRequest request;
    std::unique_ptr<WorkerProcess> process;
    int rewritten = 0;  ///< InputWatch::rewritten when it began
    int times = 0;      ///< that it was begun
  };
  static platform::FileStamp stamp_of(const Result& result);
  const Result& remember(const std::string& key, Result result);
  void begin_again(Job job);
  void finish(Job job);
  Result result_of(const Job& job);

  const WorkerLauncher* launcher_;
  InputWatch inputs_;
  platform::StorePlaces places_;
  std::unique_ptr<platform::Store> store_;  ///< made when something is to be built
  int jobs_;
  bool builds_;
  bool built_ = false;  ///< the store has grown
  std::deque<Job> queue_, later_;
  std::set<std::string> pending_;  ///< keys queued or running
  std::map<platform::ProcessHost::Id, Job> running_;
  /// Folders of artifacts that only this run uses, because the store has another user's entry, which can neither be
  /// used nor replaced.
  std::vector<platform::LockedFolder> kept_;
  std::map<std::string, Result> results_;
  std::map<std::string, platform::FileStamp> stamps_;  ///< of results_ when they were hashed
  double seconds_ = 0;
};

}  // namespace tune::exec

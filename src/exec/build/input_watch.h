#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/process/run_observer.h"
#include "exec/request/request_factory.h"

namespace tune::exec {

/// Sees to it that a run builds and runs one version of its files: the one that its keys were made of.
class InputWatch {
 public:
  explicit InputWatch(const RequestFactory& requests);

  /// Who is told from now on, also of what nobody was there to hear; null: nobody. It outlives this, or is replaced.
  void tell(RunObserver* observer);

  /// How often files have been written to since they were read, and then had the same content again. What was made
  /// while this number rose may be of a content in between. Throws Error(environment) if a file has another content
  /// now.
  int rewritten();
  /// Throws as `rewritten`, if the source is a script or a program that is run as it is.
  void check_unbuilt();
  /// Of the files that a build has read, warns of those that no key knows; once.
  void note_reads(const std::vector<std::string>& files);

 private:
  std::optional<platform::WatchedFiles::Change> unchanged_content();
  bool has_namesake(const std::filesystem::path& file) const;

  platform::WatchedFiles files_;
  std::set<std::filesystem::path> known_;  ///< where links of `files_` lead to
  RunObserver* observer_ = nullptr;
  std::string untold_;  ///< a warning
  bool builds_write_;   ///< build.command, which may write sources too
  bool is_run_as_it_is_;
  int rewritten_ = 0;
  bool warned_ = false;
};

}  // namespace tune::exec

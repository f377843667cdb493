#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "platform/files/descriptor.h"
#include "recording/recording.h"

namespace tune::recording {

/// The text of a Kernel Tuner cache file, piece by piece: a closed file is head, entries with a comma after each but
/// the last, foot. Kernel Tuner reads it in its simulation mode, and its dashboard shows it: the objective is one name,
/// and every entry has the same scalar members.
std::string kernel_tuner_head(const Recording& recording);
/// `"16,row": {...}`. `figures` are the metrics to write, null where a trial lacks one. `timestamp` is ISO 8601.
std::string kernel_tuner_entry(const RecordedTrial& trial, const std::string& objective,
                               const std::vector<std::string>& figures, const std::string& timestamp);
inline constexpr const char* kKernelTunerFoot = "}\n}\n";

/// The text that stands in place of the objective of what was not measured: Kernel Tuner knows three sorts of failure.
const char* kernel_tuner_error(const Outcome& outcome);

/// A whole closed cache file. Throws Error(bad_input) if the specs do not all have the same parameters.
std::string to_kernel_tuner(const Recording& recording, const std::string& timestamp);

/// A cache file that grows while a tuning runs (--kt-cache), one write per spec, so that it can be watched and ends
/// properly wherever the run is killed.
class KernelTunerCache {
 public:
  /// Opens or creates the file, and locks it where the file system can. `kind` says what it is of; its trials are not
  /// used. An existing file is continued if device, kernel, problem, parameters and what the times are are the same; a
  /// torn end is cut. Throws Error(bad_input) otherwise or if it is compressed, and Error(environment) if it cannot be
  /// written or another run has it.
  KernelTunerCache(std::filesystem::path path, Recording kind, std::vector<std::string> figures);
  /// Closes the text as well as it can.
  ~KernelTunerCache();
  KernelTunerCache(const KernelTunerCache&) = delete;
  KernelTunerCache& operator=(const KernelTunerCache&) = delete;

  /// A spec that the file has already is passed over, unless it was measured `anew`, or failed there and succeeded now:
  /// then the file has both, and readers take the last. Throws Error(environment).
  void add(const RecordedTrial& trial, const std::string& timestamp, bool anew = false);
  /// Closes the text; nothing can be added any more. Throws Error(environment).
  void close();

 private:
  void begin();
  void lock();
  void resume(const std::string& text);
  bool is_failure(std::string_view entry) const;
  void take_figures(std::string_view entry);
  void write(const std::string& text);
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  Recording kind_;
  std::vector<std::string> figures_;
  bool figures_fixed_ = false;          ///< by the first spec that was measured
  std::map<std::string, bool> failed_;  ///< by the entry's key: whether its last entry is a failure
  platform::Descriptor file_;
  bool closed_ = false;
  bool ends_in_comma_ = false;
  std::int64_t end_ = 0;  ///< where the next entry goes
};

}  // namespace tune::recording

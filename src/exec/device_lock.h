#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace tune {

/// What the `tune` processes of a machine agree on about one of its devices: whose turn it is to launch; and that none
/// opens or closes it while another one times on it. Of those that wait, the one that is next keeps the others from
/// taking the same again before. What a process has taken is free when it ends, however it does. A device without an id
/// is everyone's, and so are all where files have no locks.
class DeviceLock {
 public:
  /// What does not go together: some open or close the device, or one has its times taken.
  enum class Use { opening, timing };

  /// The lock is a file of this folder, which all users share. `work` is what others are told that we do: a file's
  /// name.
  DeviceLock(const std::filesystem::path& folder, const std::string& device_id, const std::string& work = {});

  /// Why there are no turns though the device has an id: the file cannot be had, or is none to be trusted. Empty: there
  /// are.
  const std::string& problem() const { return problem_; }

  /// Takes the turn if it is free; else waits for it from now on, and is to be asked again.
  bool take();
  /// Gives it back, or waits no longer.
  void release();

  /// Begins to use the device so, if no other process uses it otherwise; else waits, as `take`. Who opens asks again
  /// before more is opened, so that one who wants to time comes in between; and if that is refused, ends this use once
  /// all is open. Who times does not open.
  bool begin(Use use);
  /// Ends this use if it is the present one, and waits no longer.
  void end(Use use);

  /// Who took what this one waits for, by its own word: `tune, pid 123, user ada, gemm.yaml, since 12:03:04`. Empty
  /// while that is not written yet.
  std::string holder() const;
  /// How that text begins where it is this process: `tune, pid 123,`.
  static std::string our_name();

 private:
  bool acquire(int byte, short type, bool& next);

  Descriptor file_;
  std::string problem_;
  std::string user_and_work_;
  bool next_ = false;  ///< no other process can be the next to launch
  bool taken_ = false;
  bool next_use_ = false;  ///< no other process can be the next to begin
  std::optional<Use> use_;
  int waits_for_ = 0;  ///< what could not be had last
};

}  // namespace tune

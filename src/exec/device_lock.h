#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace tune::exec {

/// A lock by which the `tune` processes of a machine share one of its devices: they take turns to launch, and none
/// opens or closes the device while another times something on it. Among the processes that wait, one is next, and the
/// present owner cannot take the lock again before it. Whatever a process holds is released when it ends, however it
/// ends. There are no turns on a device without an id, nor where the file system has no locks.
class DeviceLock {
 public:
  /// These exclude each other: any number of processes open or close the device, or one times something on it.
  enum class Use { opening, timing };

  /// The lock is a file of this folder, which all users share. `work`, a file's name, tells the others what we do.
  DeviceLock(const std::filesystem::path& folder, const std::string& device_id, const std::string& work = {});

  /// Why there are no turns although the device has an id: the file cannot be opened, or cannot be trusted. Empty if
  /// there are turns.
  const std::string& problem() const { return problem_; }

  /// Takes the turn if it is free; if not, this waits for it from now on, and is to be called again.
  bool take();
  /// Gives it back, or stops waiting for it.
  void release();

  /// Begins this use unless another process uses the device in the other way; if so, this waits as `take` does. Whoever
  /// opens the device calls it again before opening more, so that a process that wants to time something comes in
  /// between; if it is refused then, it ends the use once all is open. Whoever times does not open.
  bool begin(Use use);
  /// Ends this use if it is the present one, and stops waiting.
  void end(Use use);

  /// Who has what this one waits for, as it says itself: `tune, pid 123, user ada, gemm.yaml, since 12:03:04`. Empty if
  /// that is not written yet.
  std::string holder() const;
  /// How that text begins where it is this process: `tune, pid 123,`.
  static std::string our_name();

 private:
  bool acquire(int byte, short type, bool& next);

  base::Descriptor file_;
  std::string problem_;
  std::string user_and_work_;
  bool next_ = false;  ///< no other process can be the next to launch
  bool taken_ = false;
  bool next_use_ = false;  ///< no other process can be the next to begin
  std::optional<Use> use_;
  int waits_for_ = 0;  ///< the byte that could not be locked last
};

}  // namespace tune::exec

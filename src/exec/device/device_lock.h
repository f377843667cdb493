#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "platform/files/descriptor.h"

namespace tune::exec {

/// A lock by which the `tune` processes of a machine share one of its devices: they take turns to launch, and none
/// opens or closes the device while another times something on it. One of the waiting processes is next, and the
/// current owner cannot take the lock again before it. When a process ends in any way, everything that it holds is
/// released. There are no turns on a device without an id, nor if the file system does not support locks.
class DeviceLock {
 public:
  /// These exclude each other: any number of processes open or close the device, or one times something on it.
  enum class Use { opening, timing };

  /// The lock is a file of this folder, which all users share. `work`, a file's name, tells the others what we do.
  DeviceLock(const std::filesystem::path& folder, const std::string& device_id, const std::string& work = {});

  /// Why there are no turns although the device has an id: the file cannot be opened, or cannot be trusted. Empty if
  /// there are turns.
  const std::string& problem() const { return problem_; }

  /// Takes the turn if it is free. If it is not, this process waits for it from now on, and must call again.
  bool take();
  /// Gives the turn back, or stops waiting for it.
  void release();

  /// Begins this use unless another process uses the device in the other way; if so, this waits as `take` does. A run
  /// that opens the device calls begin(opening) again before it opens more, so that a run that wants to time something
  /// gets its turn in between. If that call is refused, it ends its use once everything that it has started to open is
  /// open. A run that is timing must not open the device.
  bool begin(Use use);
  /// Ends this use if it is the current one, and stops waiting.
  void end(Use use);

  /// The process that holds what this one waits for, in its own words: `tune, pid 123, user ada, gemm.yaml, since
  /// 12:03:04`. Empty if it has not written them yet.
  std::string holder() const;
  /// The beginning of that text if this process is the holder: `tune, pid 123,`.
  static std::string our_name();

 private:
  bool acquire(int byte, short type, bool& next);

  platform::Descriptor file_;
  std::string problem_;
  std::string user_and_work_;
  bool next_ = false;  ///< no other process can be the next to launch
  bool taken_ = false;
  bool next_use_ = false;  ///< no other process can be the next to begin
  std::optional<Use> use_;
  int waits_for_ = 0;  ///< the byte that could not be locked last
};

}  // namespace tune::exec

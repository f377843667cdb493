#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "exec/build/build_service.h"
#include "exec/device/measure_device.h"
#include "exec/process/scratch.h"
#include "platform/files/descriptor.h"

namespace tune::exec {

/// The reference result that every spec of a run is checked against, and the process that makes it on a device.
class ReferenceService {
 public:
  /// All of these must outlive this. `of_several_devices`: it is written to a file, for those that did not make it.
  ReferenceService(const RequestFactory& requests, BuildService& builds, MeasureDevice& device, bool of_several_devices)
      : requests_(&requests), builds_(&builds), device_(&device), of_several_devices_(of_several_devices) {}

  /// Does the next step towards the reference result, building a reference kernel with the parameters of `spec` if
  /// there is one. Returns true when the reference is ready, or the problem needs none. Throws Unlaunchable if the
  /// reference cannot be made with this spec's build, Error if it cannot be made at all.
  bool ready(const Spec& spec);
  /// Starts to make the reference of a GEMM, which does not need a build.
  void begin();
  /// The process that has made it rests on the device.
  void leave();
  /// Whether its process keeps it there, from which others copy it, also those of later tunings.
  bool stays_on_device() const;
  bool is_being_made() const { return process_ != nullptr && path_.empty(); }
  /// What messages call it: reference kernel 'naive'.
  std::string name() const;
  /// The path of the reference's file; empty until it is ready.
  const std::string& path() const { return path_; }

  /// Returns false if the event is not one of ours. Throws what MeasureDevice::note_refused throws, and Error.
  bool handle(const platform::ProcessHost::Event& event);

 private:
  void make(const Spec& spec);
  void take_end();
  std::string hold(const std::filesystem::path& file);
  std::uint64_t bytes() const;

  const RequestFactory* requests_;
  BuildService* builds_;
  MeasureDevice* device_;
  bool of_several_devices_;
  std::unique_ptr<Scratch> scratch_;        ///< outlives the process that writes there
  std::unique_ptr<WorkerProcess> process_;  ///< stays, on a GPU, for others to copy the reference from
  platform::Descriptor file_;
  std::string path_;
  bool used_before_ = false;  ///< the process has made other references
  std::string failure_;       ///< why the last attempt, with some spec's build, failed
};

}  // namespace tune::exec

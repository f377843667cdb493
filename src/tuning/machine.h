#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "exec/workers.h"

namespace tune::tuning {

/// The machine that a user lists or builds for, if it is not this one.
struct MachineSettings {
  std::optional<std::filesystem::path> device_file;  ///< of a device, or its name
  std::optional<std::string> arch;                   ///< --arch: what to build for
};

/// How much of a machine a run needs, and where it is described.
struct MachineRules {
  enum class Need {
    names,     ///< to list specs: also without the device
    compiler,  ///< to build: an architecture may stand for the device
    device,    ///< to measure, unless the journal knows all there is to measure
  };
  Need need = Need::device;
  std::filesystem::path journal;        ///< remembers the machine where it cannot be asked
  std::filesystem::path known_devices;  ///< the folder that has files of known devices
  std::optional<std::string> devices;   ///< that are measured on: all, indices, or a model
};

/// The machine that a run is for: what a worker says of it, what a device file says, or what the journal remembers.
/// It is probed when it is first needed.
class Machine {
 public:
  /// `workers` must outlive this. Throws Error(bad_input) for a bad device file.
  Machine(MachineSettings settings, MachineRules rules, exec::Workers& workers);

  bool present(Backend backend) const;
  /// Where the tuning file's expressions take their device from. Throws Error.
  const Device& device(Backend backend) { return stand_in_ ? stand_in_for(backend) : hello(backend).device; }
  /// The device whose limits prune specs; nullopt where it does not matter, or is not known. Throws Error.
  std::optional<Device> limiting_device(Backend backend);
  /// Throws Error.
  const wire::Hello& hello(Backend backend);
  /// What a dry run would build with; nullopt if that is not there or not known. Throws nothing.
  std::optional<wire::Hello> builder(Backend backend) const;
  /// Why the hello is the one the journal remembers; empty if it is not.
  const std::string& probe_failure() const { return probe_failure_; }

 private:
  const Device& stand_in_for(Backend backend) const;
  wire::Hello hello_for_building(Backend backend) const;
  void describe_chosen(wire::Hello& hello) const;

  MachineSettings settings_;
  MachineRules rules_;
  exec::Workers* workers_;
  std::optional<Device> stand_in_;  ///< for the device: from a file, or in a dry run by its architecture alone
  std::optional<wire::Hello> hello_;
  std::string probe_failure_;
};

}  // namespace tune::tuning

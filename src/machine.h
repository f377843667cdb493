#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "exec/workers.h"
#include "options.h"

namespace tune {

/// The machine that a run is for: what a worker says of it, what a device file says, or what the journal remembers.
/// It is looked at once it is asked for.
class Machine {
 public:
  /// `options` and `workers` must outlive this. Throws Error(bad_input) for a bad device file.
  Machine(const Options& options, Workers& workers, std::filesystem::path journal);

  bool present(Backend backend) const { return from_file_ || workers_->present(backend); }
  /// Where the tuning file's expressions take their device from. Throws Error.
  const Device& device(Backend backend) { return from_file_ ? *from_file_ : hello(backend).device; }
  /// Whose limits prune specs; nullopt where it is of no matter which, or not known. Throws Error.
  std::optional<Device> limiting_device(Backend backend);
  /// Throws Error.
  const wire::Hello& hello(Backend backend);
  /// Why the hello is the one the journal remembers; empty if it is not.
  const std::string& probe_failure() const { return probe_failure_; }

 private:
  wire::Hello hello_for_building(Backend backend) const;
  void describe_chosen(wire::Hello& hello) const;

  const Options* options_;
  Workers* workers_;
  std::filesystem::path journal_;
  std::optional<Device> from_file_;
  std::optional<wire::Hello> hello_;
  std::string probe_failure_;
};

}  // namespace tune

#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sensors/monitor.h"

namespace tune::worker {

/// The processor that a thread ran on last; `thread` is its folder in /proc.
std::optional<int> processor_of(const std::filesystem::path& thread);

/// The gauges of the CPU: its packages' energy (RAPL), and the clock of the processors that a kernel's process ran on
/// last (cpufreq).
class CpuMonitor final : public Monitor {
 public:
  /// `process`: whose processors' clock is meant; 0: there is none.
  explicit CpuMonitor(pid_t process);

  Conditions conditions() const override;
  /// Since it was first asked for. It has to be asked for again before a counter has begun anew twice: within minutes.
  std::optional<double> joules() const override;
  std::optional<double> power_limit_w() const override;
  /// Why there is no energy, and what to do about it; empty: there is.
  std::string why_no_energy() const;

 private:
  struct Package {
    std::filesystem::path folder;
    std::int64_t range = 0;  ///< microjoules, at which its counter begins anew
    std::optional<std::int64_t> last;
    std::int64_t sum = 0;
  };

  pid_t process_;
  mutable std::vector<Package> packages_;
};

}  // namespace tune::worker

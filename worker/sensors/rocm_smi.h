#pragma once
#include <memory>
#include <string>

#include "sensors/monitor.h"
#include "sensors/rocm_library.h"

namespace tune::worker {

/// The gauges of one AMD device, from AMD's management library. Its power limit is the cap of its package, and it does
/// not say why its clock is not higher.
class RocmSmi final : public Monitor {
 public:
  /// Null if the library is absent or does not know the device.
  static std::unique_ptr<RocmSmi> find(const std::string& device_id);

  Conditions conditions() const override;
  std::optional<double> joules() const override;
  std::optional<double> power_limit_w() const override;

 private:
  explicit RocmSmi(const RocmLibrary& library);
  std::optional<double> clock_mhz(RocmClock kind) const;

  std::uint32_t device_;
  int (*clocks_)(std::uint32_t device, int kind, RocmFrequencies*) = nullptr;
  int (*socket_power_)(std::uint32_t device, std::uint64_t* microwatts) = nullptr;
  int (*average_power_)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
  int (*temperature_)(std::uint32_t device, std::uint32_t sensor, int metric, std::int64_t* millidegrees) = nullptr;
  int (*energy_)(std::uint32_t device, std::uint64_t* count, float* microjoules, std::uint64_t* time) = nullptr;
  int (*power_cap_)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
};

}  // namespace tune::worker

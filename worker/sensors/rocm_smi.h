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

/// The gauges of one AMD device, from AMD SMI (libamd_smi.so.26, of ROCm 7), the successor of ROCm SMI. Its functions
/// are called by their public documentation, because its header is not on every machine; the library stays open.
class AmdSmi final : public Monitor {
 public:
  /// `device_id` is what a worker's probe tells. Null if the library is absent or does not know the device.
  static std::unique_ptr<AmdSmi> find(const std::string& device_id);

  Conditions conditions() const override;
  std::optional<double> joules() const override;
  std::optional<double> power_limit_w() const override;

 private:
  using Processor = void*;
  // As the library lays them out (amdsmi_clk_info_t, amdsmi_power_info_t, amdsmi_power_cap_info_t), with room for more.
  // What is not known has the highest value of its type, or of 32 bits.
  struct Clock {
    std::uint32_t mhz = 0, least = 0, most = 0;
    std::uint8_t locked = 0, deep_sleep = 0;
    std::uint32_t room[60] = {};
  };
  struct Power {
    std::uint64_t socket_w = 0;
    std::uint32_t current_w = 0, average_w = 0;
    std::uint64_t room[60] = {};
  };
  struct PowerCap {
    std::uint64_t cap_uw = 0;
    std::uint64_t room[60] = {};
  };

  AmdSmi(void* library, Processor processor);
  std::optional<double> clock_mhz(int kind) const;

  Processor processor_;
  int (*clock_)(Processor, int kind, Clock*) = nullptr;
  int (*power_)(Processor, Power*) = nullptr;
  int (*temperature_)(Processor, int sensor, int metric, std::int64_t* celsius) = nullptr;
  int (*energy_)(Processor, std::uint64_t* count, float* microjoules, std::uint64_t* time) = nullptr;
  int (*power_cap_)(Processor, std::uint32_t sensor, PowerCap*) = nullptr;
};

}  // namespace tune::worker

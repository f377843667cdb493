#pragma once
#include <memory>

#include "sensors/monitor.h"
#include "sensors/uuid.h"

namespace tune::worker {

/// One figure that the library is asked for by its number; laid out as its nvmlFieldValue_t.
struct NvmlField {
  static constexpr unsigned kInstantPower = 186;  ///< milliwatts
  enum Type : int { kUnsigned = 1, kUnsignedLong = 2, kUnsignedLongLong = 3 };

  unsigned id = 0, scope = 0;
  long long timestamp_us = 0, latency_us = 0;
  int type = 0, status = 0;
  union {
    unsigned long long wide = 0;
    unsigned narrow;
  };
};

/// A process on a device; laid out as its nvmlProcessInfo_t.
struct NvmlProcess {
  unsigned pid = 0;
  unsigned long long memory = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

/// The functions of NVIDIA's management library that are used, by their public documentation: its header is not on
/// every machine. All return 0 for success. Null: this version of the library has no such function.
struct NvmlFunctions {
  using Device = struct NvmlDevice*;
  enum Clock : int { kSmClock = 1, kMemoryClock = 2 };
  enum Sensor : int { kGpuSensor = 0 };

  int (*init)() = nullptr;                                                  ///< nvmlInit_v2
  int (*device_by_uuid)(const char* uuid, Device* device) = nullptr;        ///< nvmlDeviceGetHandleByUUID
  int (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;  ///< nvmlDeviceGetMigMode
  int (*card_of)(Device instance, Device* card) = nullptr;          ///< nvmlDeviceGetDeviceHandleFromMigDeviceHandle
  int (*clock)(Device, Clock, unsigned* mhz) = nullptr;             ///< nvmlDeviceGetClockInfo
  int (*power)(Device, unsigned* milliwatts) = nullptr;             ///< nvmlDeviceGetPowerUsage
  int (*fields)(Device, int count, NvmlField*) = nullptr;           ///< nvmlDeviceGetFieldValues
  int (*power_limit)(Device, unsigned* milliwatts) = nullptr;       ///< nvmlDeviceGetEnforcedPowerLimit
  int (*temperature)(Device, Sensor, unsigned* celsius) = nullptr;  ///< nvmlDeviceGetTemperature
  int (*throttle_reasons)(Device, unsigned long long* bits) = nullptr;  ///< nvmlDeviceGetCurrentClocksThrottleReasons
  int (*energy)(Device, unsigned long long* millijoules) = nullptr;     ///< nvmlDeviceGetTotalEnergyConsumption
  int (*processes)(Device, unsigned* count, NvmlProcess*) = nullptr;    ///< nvmlDeviceGetComputeRunningProcesses_v3

  /// The functions of libnvidia-ml.so.1, which stays open; all are null if there is no such library.
  static NvmlFunctions open();
};

/// The gauges of one NVIDIA device. Of an instance of a card that is split up (MIG), clocks, heat and throttling are
/// the card's, and power and energy are unknown: the card's are of its other instances too.
/// Null if the library is absent or does not know the device.
std::unique_ptr<Monitor> find_nvml(NvmlFunctions functions, const Uuid& uuid);

}  // namespace tune::worker

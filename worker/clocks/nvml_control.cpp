#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "clocks/library_control.h"

namespace tune::worker {
namespace {

using NvmlCard = struct NvmlCardHandle*;

enum NvmlStatus : int { kNvmlSuccess = 0, kNvmlNotSupported = 3, kNvmlNoPermission = 4, kNvmlLost = 15 };

constexpr const char* kNvmlPermission =
    "it takes root: run tune with sudo, or in a container as root with --cap-add SYS_ADMIN; or have an administrator "
    "set the clocks, and leave these parameters out";

/// The functions that change a device, by the library's public documentation. Null: this version has no such function.
struct NvmlSetters {
  int (*init)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*device)(const char* uuid, NvmlCard*) = nullptr;
  int (*memory_clocks)(NvmlCard, unsigned* count, unsigned* mhz) = nullptr;
  int (*sm_clocks)(NvmlCard, unsigned memory_mhz, unsigned* count, unsigned* mhz) = nullptr;
  int (*power_range)(NvmlCard, unsigned* least, unsigned* most) = nullptr;
  int (*power_limit)(NvmlCard, unsigned* milliwatts) = nullptr;
  int (*lock_sm)(NvmlCard, unsigned least, unsigned most) = nullptr;
  int (*free_sm)(NvmlCard) = nullptr;
  int (*lock_memory)(NvmlCard, unsigned least, unsigned most) = nullptr;
  int (*free_memory)(NvmlCard) = nullptr;
  int (*application_clock)(NvmlCard, int kind, unsigned* mhz) = nullptr;
  int (*set_application_clocks)(NvmlCard, unsigned memory_mhz, unsigned sm_mhz) = nullptr;
  int (*set_power_limit)(NvmlCard, unsigned milliwatts) = nullptr;

  static NvmlSetters open() {
    NvmlSetters found;
    void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    const auto find = [library]<typename Function>(Function*& function, const char* symbol) {
      function = reinterpret_cast<Function*>(::dlsym(library, symbol));
    };
    find(found.init, "nvmlInit_v2");
    find(found.error, "nvmlErrorString");
    find(found.device, "nvmlDeviceGetHandleByUUID");
    find(found.memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
    find(found.sm_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
    find(found.power_range, "nvmlDeviceGetPowerManagementLimitConstraints");
    find(found.power_limit, "nvmlDeviceGetPowerManagementLimit");
    find(found.lock_sm, "nvmlDeviceSetGpuLockedClocks");
    find(found.free_sm, "nvmlDeviceResetGpuLockedClocks");
    find(found.lock_memory, "nvmlDeviceSetMemoryLockedClocks");
    find(found.free_memory, "nvmlDeviceResetMemoryLockedClocks");
    find(found.application_clock, "nvmlDeviceGetApplicationsClock");
    find(found.set_application_clocks, "nvmlDeviceSetApplicationsClocks");
    find(found.set_power_limit, "nvmlDeviceSetPowerManagementLimit");
    return found;
  }
};

constexpr const char* kNvmlPowerLimit = "power_limit_mw";

enum NvmlClock : int { kNvmlSmClock = 1, kNvmlMemoryClock = 2 };
/// The clocks that the driver gives to whoever computes, on cards whose clocks cannot be locked.
struct Application {
  NvmlClock kind;
  const char* saved;
};
const std::map<DeviceControl, Application> kApplications = {
    {DeviceControl::sm_clock, {kNvmlSmClock, "application_sm_mhz"}},
    {DeviceControl::memory_clock, {kNvmlMemoryClock, "application_memory_mhz"}}};

/// A list whose length is asked for first; empty if the library does not tell.
std::vector<unsigned> nvml_list(const std::function<int(unsigned*, unsigned*)>& ask) {
  std::vector<unsigned> values(4096);
  auto count = static_cast<unsigned>(values.size());
  values.resize(ask(&count, values.data()) == kNvmlSuccess ? count : 0);
  return values;
}

class NvmlControl final : public LibraryControl {
 public:
  NvmlControl(const NvmlSetters& functions, NvmlCard device)
      : LibraryControl({kNvmlNotSupported, kNvmlNoPermission, kNvmlLost, kNvmlPermission}),
        nvml_(functions),
        device_(device) {}

  wire::SettableClocks settable() const override {
    wire::SettableClocks settable;
    std::set<unsigned> sm;
    const auto memory =
        nvml_.memory_clocks == nullptr
            ? std::vector<unsigned>()
            : nvml_list([&](unsigned* count, unsigned* mhz) { return nvml_.memory_clocks(device_, count, mhz); });
    for (const unsigned clock : memory) {
      if (nvml_.sm_clocks == nullptr) break;
      const auto clocks =
          nvml_list([&](unsigned* count, unsigned* mhz) { return nvml_.sm_clocks(device_, clock, count, mhz); });
      sm.insert(clocks.begin(), clocks.end());
    }
    settable.of(DeviceControl::sm_clock).values.assign(sm.begin(), sm.end());
    auto& memory_clocks = settable.of(DeviceControl::memory_clock).values;
    memory_clocks.assign(memory.begin(), memory.end());
    std::ranges::sort(memory_clocks);
    unsigned least = 0, most = 0;
    if (nvml_.power_range != nullptr && nvml_.power_range(device_, &least, &most) == kNvmlSuccess) {
      settable.of(DeviceControl::power_limit).least = (least + 999) / 1000;
      settable.of(DeviceControl::power_limit).most = most / 1000;
    }
    return settable;
  }

  // Locked clocks cannot be asked for: what somebody else has locked is free afterwards.
  ClockControl::Saved saved() const override {
    Saved saved;
    unsigned value = 0;
    if (status_of(nvml_.power_limit, device_, &value) == kNvmlSuccess) saved[kNvmlPowerLimit] = value;
    for (const auto& [control, application] : kApplications)
      if (status_of(nvml_.application_clock, device_, application.kind, &value) == kNvmlSuccess)
        saved[application.saved] = value;
    return saved;
  }

  void set(DeviceControl control, std::int64_t value) override {
    const auto number = static_cast<unsigned>(value);
    if (control != DeviceControl::power_limit) return lock_clock(control, number);
    require("nvmlDeviceSetPowerManagementLimit", status_of(nvml_.set_power_limit, device_, 1000 * number));
    unsigned now = 0;
    if (status_of(nvml_.power_limit, device_, &now) == kNvmlSuccess && now != 1000 * number)
      throw ClockRefusal{
          {wire::Refused::Why::other, fmt::format("the power limit is {} mW, although {} W was set", now, value)}};
  }

  void reset(DeviceControl control, const Saved& saved) override {
    if (control != DeviceControl::power_limit) return free_clock(control, saved);
    if (const auto found = saved.find(kNvmlPowerLimit); found != saved.end())
      require("nvmlDeviceSetPowerManagementLimit",
              status_of(nvml_.set_power_limit, device_, static_cast<unsigned>(found->second)));
  }

 private:
  std::string text_of(int status) const override { return nvml_.error != nullptr ? nvml_.error(status) : ""; }

  // Cards before Volta cannot lock the clock of the multiprocessors, those before Ampere not that of the memory.
  void lock_clock(DeviceControl control, unsigned mhz) const {
    const bool sm = control == DeviceControl::sm_clock;
    const int status = status_of(sm ? nvml_.lock_sm : nvml_.lock_memory, device_, mhz, mhz);
    if (status == kNvmlNotSupported) return set_application_clock(control, mhz);
    require(sm ? "nvmlDeviceSetGpuLockedClocks" : "nvmlDeviceSetMemoryLockedClocks", status);
  }

  void free_clock(DeviceControl control, const Saved& saved) const {
    const bool sm = control == DeviceControl::sm_clock;
    const int status = status_of(sm ? nvml_.free_sm : nvml_.free_memory, device_);
    const auto before = saved.find(kApplications.at(control).saved);
    if (status == kNvmlNotSupported && before != saved.end())
      return set_application_clock(control, static_cast<unsigned>(before->second));
    require(sm ? "nvmlDeviceResetGpuLockedClocks" : "nvmlDeviceResetMemoryLockedClocks", status);
  }

  // Both are set at once: the other one stays what it is.
  void set_application_clock(DeviceControl control, unsigned mhz) const {
    unsigned sm = 0, memory = 0;
    require("nvmlDeviceGetApplicationsClock", status_of(nvml_.application_clock, device_, kNvmlSmClock, &sm));
    require("nvmlDeviceGetApplicationsClock", status_of(nvml_.application_clock, device_, kNvmlMemoryClock, &memory));
    (control == DeviceControl::sm_clock ? sm : memory) = mhz;
    require("nvmlDeviceSetApplicationsClocks", status_of(nvml_.set_application_clocks, device_, memory, sm));
  }

  NvmlSetters nvml_;
  NvmlCard device_;
};

}  // namespace

std::unique_ptr<ClockControl> open_nvml_control(const std::string& device_id) {
  const auto refuse = [](const std::string& why) { throw ClockRefusal{{wire::Refused::Why::other, why}}; };
  const NvmlSetters nvml = NvmlSetters::open();
  NvmlCard device = nullptr;
  if (nvml.init == nullptr || nvml.device == nullptr)
    refuse(
        "NVIDIA's management library (libnvidia-ml.so.1) is missing; install the driver's version of it (a "
        "container gets it with NVIDIA_DRIVER_CAPABILITIES=compute,utility)");
  if (nvml.init() != kNvmlSuccess) refuse("NVIDIA's management library (libnvidia-ml.so.1) does not start");
  if (device_id.starts_with("MIG-")) refuse("a part of a card (MIG) has no clocks of its own");
  if (nvml.device(device_id.c_str(), &device) != kNvmlSuccess)
    refuse("NVIDIA's management library does not know the device " + device_id);
  return std::make_unique<NvmlControl>(nvml, device);
}

}  // namespace tune::worker

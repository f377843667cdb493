#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "clock_control.h"

namespace tune::worker {
namespace {

using NvmlCard = struct NvmlDevice*;

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
    find(found.set_power_limit, "nvmlDeviceSetPowerManagementLimit");
    return found;
  }
};

constexpr const char* kNvmlPowerLimit = "power_limit_mw";

/// A list whose length is asked for first; empty if the library does not tell.
std::vector<unsigned> nvml_list(const std::function<int(unsigned*, unsigned*)>& ask) {
  std::vector<unsigned> values(4096);
  auto count = static_cast<unsigned>(values.size());
  values.resize(ask(&count, values.data()) == kNvmlSuccess ? count : 0);
  return values;
}

class NvmlControl final : public ClockControl {
 public:
  NvmlControl(const NvmlSetters& functions, NvmlCard device) : nvml_(functions), device_(device) {}

  wire::SettableClocks settable() const override;
  Saved saved() const override;
  void set(DeviceControl control, std::int64_t value) override;
  void reset(DeviceControl control, const Saved& saved) override;

 private:
  template <typename Function, typename... Args>
  void call(const char* name, Function* function, Args... args) const {
    const int status = function == nullptr ? int{kNvmlNotSupported} : function(device_, args...);
    if (status != kNvmlSuccess) refuse(name, status);
  }
  [[noreturn]] void refuse(const char* name, int status) const;

  NvmlSetters nvml_;
  NvmlCard device_;
};

void NvmlControl::refuse(const char* name, int status) const {
  using Why = wire::Refused::Why;
  const std::string text =
      fmt::format("{}: {}", name, nvml_.error != nullptr ? nvml_.error(status) : fmt::format("error {}", status));
  if (status == kNvmlNoPermission) throw ClockRefusal{{Why::permission, text + "; " + kNvmlPermission}};
  throw ClockRefusal{{status == kNvmlLost ? Why::lost : Why::other, text}};
}

wire::SettableClocks NvmlControl::settable() const {
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
  settable.sm_clocks.assign(sm.begin(), sm.end());
  settable.memory_clocks.assign(memory.begin(), memory.end());
  std::ranges::sort(settable.memory_clocks);
  unsigned least = 0, most = 0;
  if (nvml_.power_range != nullptr && nvml_.power_range(device_, &least, &most) == kNvmlSuccess) {
    settable.least_power = (least + 999) / 1000;
    settable.most_power = most / 1000;
  }
  return settable;
}

// Locked clocks cannot be asked for: what somebody else has locked is free afterwards.
ClockControl::Saved NvmlControl::saved() const {
  unsigned milliwatts = 0;
  if (nvml_.power_limit == nullptr || nvml_.power_limit(device_, &milliwatts) != kNvmlSuccess) return {};
  return {{kNvmlPowerLimit, milliwatts}};
}

void NvmlControl::set(DeviceControl control, std::int64_t value) {
  const auto number = static_cast<unsigned>(value);
  switch (control) {
    case DeviceControl::sm_clock:
      return call("nvmlDeviceSetGpuLockedClocks", nvml_.lock_sm, number, number);
    case DeviceControl::memory_clock:
      return call("nvmlDeviceSetMemoryLockedClocks", nvml_.lock_memory, number, number);
    case DeviceControl::power_limit:
      call("nvmlDeviceSetPowerManagementLimit", nvml_.set_power_limit, 1000 * number);
      if (const Saved now = saved(); !now.empty() && now.at(kNvmlPowerLimit) != 1000 * value)
        throw ClockRefusal{{wire::Refused::Why::other, fmt::format("the power limit is {} mW, although {} W was set",
                                                                   now.at(kNvmlPowerLimit), value)}};
  }
}

void NvmlControl::reset(DeviceControl control, const Saved& saved) {
  switch (control) {
    case DeviceControl::sm_clock:
      return call("nvmlDeviceResetGpuLockedClocks", nvml_.free_sm);
    case DeviceControl::memory_clock:
      return call("nvmlDeviceResetMemoryLockedClocks", nvml_.free_memory);
    case DeviceControl::power_limit:
      if (const auto found = saved.find(kNvmlPowerLimit); found != saved.end())
        call("nvmlDeviceSetPowerManagementLimit", nvml_.set_power_limit, static_cast<unsigned>(found->second));
  }
}

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

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "clocks/library_control.h"
#include "sensors/rocm_library.h"

namespace tune::worker {
namespace {

enum RocmStatus : int { kRocmNotSupported = 2, kRocmNoPermission = 4, kRocmNeverLost = -1 };
enum RocmLevel : int { kRocmAutomatic = 0, kRocmManual = 3 };

constexpr const char* kRocmPermission =
    "it takes root: run tune with sudo; or have an administrator set the clocks, and leave these parameters out";

/// The functions that change a device, by the library's public documentation. Null: this version has no such function.
struct RocmSetters {
  int (*error)(int status, const char** text) = nullptr;
  int (*clocks)(std::uint32_t device, int kind, RocmFrequencies*) = nullptr;
  int (*set_clocks)(std::uint32_t device, int kind, std::uint64_t which) = nullptr;
  int (*level)(std::uint32_t device, int*) = nullptr;
  int (*set_level)(std::uint32_t device, int) = nullptr;
  int (*power)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
  int (*power_range)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* most, std::uint64_t* least) = nullptr;
  int (*set_power)(std::uint32_t device, std::uint32_t sensor, std::uint64_t microwatts) = nullptr;

  explicit RocmSetters(const RocmLibrary& library) {
    library.find(error, "rsmi_status_string");
    library.find(clocks, "rsmi_dev_gpu_clk_freq_get");
    library.find(set_clocks, "rsmi_dev_gpu_clk_freq_set");
    library.find(level, "rsmi_dev_perf_level_get");
    library.find(set_level, "rsmi_dev_perf_level_set");
    library.find(power, "rsmi_dev_power_cap_get");
    library.find(power_range, "rsmi_dev_power_cap_range_get");
    library.find(set_power, "rsmi_dev_power_cap_set");
  }
};

constexpr const char *kRocmCap = "power_cap_uw", *kRocmLevel = "performance_level";
constexpr std::uint32_t kRocmSensor = 0;
constexpr std::uint64_t kHertzPerMhz = 1'000'000, kMicrowattsPerWatt = 1'000'000;

RocmClock kind_of(DeviceControl control) {
  return control == DeviceControl::sm_clock ? kRocmSystemClock : kRocmMemoryClock;
}

class RocmControl final : public LibraryControl {
 public:
  explicit RocmControl(const RocmLibrary& library)
      : LibraryControl({kRocmNotSupported, kRocmNoPermission, kRocmNeverLost, kRocmPermission}),
        rocm_(library),
        device_(library.device()) {}

  wire::SettableClocks settable() const override {
    wire::SettableClocks settable;
    for (const DeviceControl control : {DeviceControl::sm_clock, DeviceControl::memory_clock}) {
      settable.of(control).values = clocks_mhz(kind_of(control));
      std::ranges::sort(settable.of(control).values);
    }
    std::uint64_t most = 0, least = 0;
    if (status_of(rocm_.power_range, device_, kRocmSensor, &most, &least) == kRocmSuccess) {
      wire::Choices& power = settable.of(DeviceControl::power_limit);
      power.least = static_cast<std::int64_t>((least + kMicrowattsPerWatt - 1) / kMicrowattsPerWatt);
      power.most = static_cast<std::int64_t>(most / kMicrowattsPerWatt);
    }
    return settable;
  }

  ClockControl::Saved saved() const override {
    Saved saved;
    std::uint64_t microwatts = 0;
    if (status_of(rocm_.power, device_, kRocmSensor, &microwatts) == kRocmSuccess)
      saved[kRocmCap] = static_cast<std::int64_t>(microwatts);
    int level = kRocmAutomatic;
    if (status_of(rocm_.level, device_, &level) == kRocmSuccess) saved[kRocmLevel] = level;
    return saved;
  }

  void set(DeviceControl control, std::int64_t value) override {
    if (control != DeviceControl::power_limit) return set_clock(control, value);
    const std::uint64_t wanted = kMicrowattsPerWatt * static_cast<std::uint64_t>(value);
    require("rsmi_dev_power_cap_set", status_of(rocm_.set_power, device_, kRocmSensor, wanted));
    if (std::uint64_t now = 0; status_of(rocm_.power, device_, kRocmSensor, &now) == kRocmSuccess && now != wanted)
      throw ClockRefusal{
          {wire::Refused::Why::other, fmt::format("the power cap is {} uW, although {} W was set", now, value)}};
  }

  // All clocks are allowed again, and who chooses among them is as before.
  void reset(DeviceControl control, const Saved& saved) override {
    const auto found = saved.find(control == DeviceControl::power_limit ? kRocmCap : kRocmLevel);
    if (control == DeviceControl::power_limit) {
      if (found != saved.end())
        require("rsmi_dev_power_cap_set",
                status_of(rocm_.set_power, device_, kRocmSensor, static_cast<std::uint64_t>(found->second)));
      return;
    }
    const std::size_t count = clocks_mhz(kind_of(control)).size();
    require("rsmi_dev_gpu_clk_freq_set",
            status_of(rocm_.set_clocks, device_, kind_of(control), (std::uint64_t{1} << count) - 1));
    require("rsmi_dev_perf_level_set",
            status_of(rocm_.set_level, device_,
                      found == saved.end() ? int{kRocmAutomatic} : static_cast<int>(found->second)));
  }

 private:
  std::string text_of(int status) const override {
    const char* text = nullptr;
    return status_of(rocm_.error, status, &text) == kRocmSuccess && text != nullptr ? text : "";
  }

  /// In the library's order, whose places the masks of rsmi_dev_gpu_clk_freq_set name.
  std::vector<std::int64_t> clocks_mhz(RocmClock kind) const {
    RocmFrequencies found;
    if (status_of(rocm_.clocks, device_, kind, &found) != kRocmSuccess) return {};
    std::vector<std::int64_t> mhz;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.count, found.hertz.size()); ++i)
      mhz.push_back(static_cast<std::int64_t>(found.hertz[i] / kHertzPerMhz));
    return mhz;
  }

  void set_clock(DeviceControl control, std::int64_t mhz) const {
    const auto clocks = clocks_mhz(kind_of(control));
    const auto found = std::ranges::find(clocks, mhz);
    if (found == clocks.end())
      throw ClockRefusal{{wire::Refused::Why::other, fmt::format("there is no {} of {} MHz", to_text(control), mhz)}};
    require("rsmi_dev_perf_level_set", status_of(rocm_.set_level, device_, kRocmManual));
    require("rsmi_dev_gpu_clk_freq_set",
            status_of(rocm_.set_clocks, device_, kind_of(control), std::uint64_t{1} << (found - clocks.begin())));
  }

  RocmSetters rocm_;
  std::uint32_t device_;
};

}  // namespace

std::unique_ptr<ClockControl> open_rocm_control(const std::string& device_id) {
  std::string why;
  const auto library = RocmLibrary::open(device_id, why);
  if (!library) throw ClockRefusal{{wire::Refused::Why::other, why}};
  return std::make_unique<RocmControl>(*library);
}

}  // namespace tune::worker

#include "sensors/amd_gauges.h"

#include <cstdlib>
#include <limits>
#include <string_view>

namespace tune::worker {
namespace {

constexpr std::uint32_t kRocmJunction = 1, kRocmPackage = 0;
constexpr int kRocmNow = 0;

// The layouts are those of this version; each that breaks them has another number.
constexpr const char* kAmdFiles[] = {"libamd_smi.so.26", "/opt/rocm/lib/libamd_smi.so.26"};
constexpr int kAmdSuccess = 0;
constexpr std::uint64_t kAmdGpus = 1 << 1;
constexpr int kAmdSystemClock = 0, kAmdMemoryClock = 4, kAmdJunction = 1, kAmdNow = 0;
constexpr std::uint32_t kAmdPackage = 0, kAmdUnknown = std::numeric_limits<std::uint32_t>::max();

/// Laid out as amdsmi_enumeration_info_t, with room for more.
struct Enumeration {
  std::uint32_t render = 0, card = 0, hsa = 0, hip = 0;
  char hip_uuid[64] = {};  ///< GPU- and the digits of the number that ROCm SMI gives
  std::uint64_t room[60] = {};
};

template <typename Function>
void find_in(void* library, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(::dlsym(library, symbol));
}

using Handle = void*;

/// The processors that the library lists, or none.
std::vector<Handle> processors_of(void* library) {
  int (*init)(std::uint64_t flags) = nullptr;
  int (*sockets)(std::uint32_t * count, Handle*) = nullptr;
  int (*processors)(Handle socket, std::uint32_t * count, Handle*) = nullptr;
  find_in(library, init, "amdsmi_init");
  find_in(library, sockets, "amdsmi_get_socket_handles");
  find_in(library, processors, "amdsmi_get_processor_handles");
  if (init == nullptr || sockets == nullptr || processors == nullptr || init(kAmdGpus) != kAmdSuccess) return {};
  std::uint32_t count = 0;
  if (sockets(&count, nullptr) != kAmdSuccess) return {};
  std::vector<Handle> all, socket_handles(count);
  if (sockets(&count, socket_handles.data()) != kAmdSuccess) return {};
  for (Handle socket : socket_handles) {
    std::uint32_t some = 0;
    if (processors(socket, &some, nullptr) != kAmdSuccess) continue;
    std::vector<Handle> handles(some);
    if (processors(socket, &some, handles.data()) == kAmdSuccess) all.insert(all.end(), handles.begin(), handles.end());
  }
  return all;
}

std::optional<std::uint64_t> number_in(std::string_view uuid) {
  if (!uuid.starts_with("GPU-")) return std::nullopt;
  const std::string digits(uuid.substr(4));
  char* end = nullptr;
  const std::uint64_t id = std::strtoull(digits.c_str(), &end, 16);
  return !digits.empty() && *end == '\0' ? std::optional(id) : std::nullopt;
}

/// See find_rocm_smi().
class RocmSmi final : public Monitor {
 public:
  explicit RocmSmi(const RocmLibrary& library) : device_(library.device()) {
    library.find(clocks_, "rsmi_dev_gpu_clk_freq_get");
    library.find(socket_power_, "rsmi_dev_current_socket_power_get");
    library.find(average_power_, "rsmi_dev_power_ave_get");
    library.find(temperature_, "rsmi_dev_temp_metric_get");
    library.find(energy_, "rsmi_dev_energy_count_get");
    library.find(power_cap_, "rsmi_dev_power_cap_get");
  }

  Conditions conditions() const override {
    Conditions now;
    now.clock_mhz = clock_mhz(kRocmSystemClock);
    now.memory_clock_mhz = clock_mhz(kRocmMemoryClock);
    std::uint64_t microwatts = 0;
    if ((socket_power_ != nullptr && socket_power_(device_, &microwatts) == kRocmSuccess) ||
        (average_power_ != nullptr && average_power_(device_, kRocmPackage, &microwatts) == kRocmSuccess))
      now.power_w = 1e-6 * static_cast<double>(microwatts);
    std::int64_t millidegrees = 0;
    if (temperature_ != nullptr && temperature_(device_, kRocmJunction, kRocmNow, &millidegrees) == kRocmSuccess)
      now.temperature_c = 1e-3 * static_cast<double>(millidegrees);
    return now;
  }

  std::optional<double> joules() const override {
    std::uint64_t count = 0, time = 0;
    float microjoules = 0;
    if (energy_ == nullptr || energy_(device_, &count, &microjoules, &time) != kRocmSuccess) return std::nullopt;
    return 1e-6 * static_cast<double>(count) * static_cast<double>(microjoules);
  }

  std::optional<double> power_limit_w() const override {
    std::uint64_t microwatts = 0;
    if (power_cap_ == nullptr || power_cap_(device_, kRocmPackage, &microwatts) != kRocmSuccess) return std::nullopt;
    return 1e-6 * static_cast<double>(microwatts);
  }

 private:
  std::optional<double> clock_mhz(RocmClock kind) const {
    RocmFrequencies found;
    if (clocks_ == nullptr || clocks_(device_, kind, &found) != kRocmSuccess || found.current >= found.hertz.size())
      return std::nullopt;
    return 1e-6 * static_cast<double>(found.hertz[found.current]);
  }

  std::uint32_t device_;
  int (*clocks_)(std::uint32_t device, int kind, RocmFrequencies*) = nullptr;
  int (*socket_power_)(std::uint32_t device, std::uint64_t* microwatts) = nullptr;
  int (*average_power_)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
  int (*temperature_)(std::uint32_t device, std::uint32_t sensor, int metric, std::int64_t* millidegrees) = nullptr;
  int (*energy_)(std::uint32_t device, std::uint64_t* count, float* microjoules, std::uint64_t* time) = nullptr;
  int (*power_cap_)(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
};

/// See find_amd_smi().
class AmdSmi final : public Monitor {
 public:
  AmdSmi(void* library, Handle processor) : processor_(processor) {
    find_in(library, clock_, "amdsmi_get_clock_info");
    find_in(library, power_, "amdsmi_get_power_info");
    find_in(library, temperature_, "amdsmi_get_temp_metric");
    find_in(library, energy_, "amdsmi_get_energy_count");
    find_in(library, power_cap_, "amdsmi_get_power_cap_info");
  }

  Conditions conditions() const override {
    Conditions now;
    now.clock_mhz = clock_mhz(kAmdSystemClock);
    now.memory_clock_mhz = clock_mhz(kAmdMemoryClock);
    Power power;
    if (power_ != nullptr && power_(processor_, &power) == kAmdSuccess)
      for (const std::uint64_t watts : {power.socket_w, std::uint64_t{power.current_w}, std::uint64_t{power.average_w}})
        if (!now.power_w && watts > 0 && watts < kAmdUnknown) now.power_w = static_cast<double>(watts);
    std::int64_t celsius = 0;
    if (temperature_ != nullptr && temperature_(processor_, kAmdJunction, kAmdNow, &celsius) == kAmdSuccess)
      now.temperature_c = static_cast<double>(celsius);
    return now;
  }

  std::optional<double> joules() const override {
    std::uint64_t count = 0, time = 0;
    float microjoules = 0;
    if (energy_ == nullptr || energy_(processor_, &count, &microjoules, &time) != kAmdSuccess) return std::nullopt;
    return 1e-6 * static_cast<double>(count) * static_cast<double>(microjoules);
  }

  std::optional<double> power_limit_w() const override {
    PowerCap found;
    if (power_cap_ == nullptr || power_cap_(processor_, kAmdPackage, &found) != kAmdSuccess) return std::nullopt;
    return 1e-6 * static_cast<double>(found.cap_uw);
  }

 private:
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

  std::optional<double> clock_mhz(int kind) const {
    Clock found;
    if (clock_ == nullptr || clock_(processor_, kind, &found) != kAmdSuccess || found.mhz == kAmdUnknown)
      return std::nullopt;
    return found.mhz;
  }

  Handle processor_;
  int (*clock_)(Handle, int kind, Clock*) = nullptr;
  int (*power_)(Handle, Power*) = nullptr;
  int (*temperature_)(Handle, int sensor, int metric, std::int64_t* celsius) = nullptr;
  int (*energy_)(Handle, std::uint64_t* count, float* microjoules, std::uint64_t* time) = nullptr;
  int (*power_cap_)(Handle, std::uint32_t sensor, PowerCap*) = nullptr;
};

}  // namespace

std::unique_ptr<Monitor> find_rocm_smi(const std::string& device_id) {
  std::string why;
  const auto library = RocmLibrary::open(device_id, why);
  return library ? std::make_unique<RocmSmi>(*library) : nullptr;
}

std::unique_ptr<Monitor> find_amd_smi(const std::string& device_id) {
  const auto wanted = rocm_number(device_id);
  void* library = nullptr;
  for (const char* file : kAmdFiles)
    if (library == nullptr) library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || !wanted) return nullptr;
  int (*enumerate)(Handle, Enumeration*) = nullptr;
  find_in(library, enumerate, "amdsmi_get_gpu_enumeration_info");
  if (enumerate == nullptr) return nullptr;
  for (Handle processor : processors_of(library)) {
    Enumeration found;
    if (enumerate(processor, &found) != kAmdSuccess) continue;
    found.hip_uuid[sizeof(found.hip_uuid) - 1] = '\0';
    if (number_in(found.hip_uuid) == wanted) return std::make_unique<AmdSmi>(library, processor);
  }
  return nullptr;
}

}  // namespace tune::worker

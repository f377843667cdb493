#include "sensors/rocm_smi.h"

namespace tune::worker {
namespace {

constexpr std::uint32_t kRocmJunction = 1, kRocmPackage = 0;
constexpr int kRocmNow = 0;

}  // namespace

std::unique_ptr<RocmSmi> RocmSmi::find(const std::string& device_id) {
  std::string why;
  const auto library = RocmLibrary::open(device_id, why);
  return library ? std::unique_ptr<RocmSmi>(new RocmSmi(*library)) : nullptr;
}

RocmSmi::RocmSmi(const RocmLibrary& library) : device_(library.device()) {
  library.find(clocks_, "rsmi_dev_gpu_clk_freq_get");
  library.find(socket_power_, "rsmi_dev_current_socket_power_get");
  library.find(average_power_, "rsmi_dev_power_ave_get");
  library.find(temperature_, "rsmi_dev_temp_metric_get");
  library.find(energy_, "rsmi_dev_energy_count_get");
  library.find(power_cap_, "rsmi_dev_power_cap_get");
}

std::optional<double> RocmSmi::clock_mhz(RocmClock kind) const {
  RocmFrequencies found;
  if (clocks_ == nullptr || clocks_(device_, kind, &found) != kRocmSuccess || found.current >= found.hertz.size())
    return std::nullopt;
  return 1e-6 * static_cast<double>(found.hertz[found.current]);
}

Conditions RocmSmi::conditions() const {
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

std::optional<double> RocmSmi::joules() const {
  std::uint64_t count = 0, time = 0;
  float microjoules = 0;
  if (energy_ == nullptr || energy_(device_, &count, &microjoules, &time) != kRocmSuccess) return std::nullopt;
  return 1e-6 * static_cast<double>(count) * static_cast<double>(microjoules);
}

std::optional<double> RocmSmi::power_limit_w() const {
  std::uint64_t microwatts = 0;
  if (power_cap_ == nullptr || power_cap_(device_, kRocmPackage, &microwatts) != kRocmSuccess) return std::nullopt;
  return 1e-6 * static_cast<double>(microwatts);
}

}  // namespace tune::worker

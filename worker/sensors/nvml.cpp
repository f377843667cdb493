#include "sensors/nvml.h"

#include <dlfcn.h>

#include <array>

namespace tune::worker {
namespace {

/// A figure that the library gives in `unit`; nullopt if it has no such function or does not answer.
template <typename Number, typename Function, typename... Args>
std::optional<double> read(double unit, Function* function, Args... args) {
  Number value = 0;
  if (function == nullptr || function(args..., &value) != 0) return std::nullopt;
  return unit * static_cast<double>(value);
}

static_assert(sizeof(NvmlField) == 40);

std::optional<double> instant_power_w(const NvmlFunctions& functions, NvmlFunctions::Device device) {
  NvmlField field;
  field.id = NvmlField::kInstantPower;
  if (functions.fields == nullptr || functions.fields(device, 1, &field) != 0 || field.status != 0) return std::nullopt;

  switch (field.type) {
    case NvmlField::kUnsigned:
      return 1e-3 * field.narrow;
    case NvmlField::kUnsignedLong:
    case NvmlField::kUnsignedLongLong:
      return 1e-3 * static_cast<double>(field.wide);
    default:
      return std::nullopt;
  }
}

bool is_split(const NvmlFunctions& functions, NvmlFunctions::Device card) {
  unsigned current = 0, pending = 0;
  return functions.mig_mode != nullptr && functions.mig_mode(card, &current, &pending) == 0 && current != 0;
}

/// See find_nvml().
class Nvml final : public Monitor {
 public:
  Nvml(const NvmlFunctions& functions, NvmlFunctions::Device device) : functions_(functions), device_(device) {}

  Conditions conditions() const override {
    using F = NvmlFunctions;
    Conditions now;
    now.clock_mhz = read<unsigned>(1, functions_.clock, device_, F::kSmClock);
    now.memory_clock_mhz = read<unsigned>(1, functions_.clock, device_, F::kMemoryClock);
    now.power_w = instant_power_w(functions_, device_);
    if (!now.power_w) now.power_w = read<unsigned>(1e-3, functions_.power, device_);
    now.temperature_c = read<unsigned>(1, functions_.temperature, device_, F::kGpuSensor);
    unsigned long long bits = 0;
    if (functions_.throttle_reasons != nullptr && functions_.throttle_reasons(device_, &bits) == 0)
      now.throttle = bits & Throttle::all;
    return now;
  }

  std::optional<double> joules() const override { return read<unsigned long long>(1e-3, functions_.energy, device_); }
  std::optional<double> power_limit_w() const override { return read<unsigned>(1e-3, functions_.power_limit, device_); }

  std::vector<int> processes() const override {
    std::array<NvmlProcess, 256> found;
    auto count = static_cast<unsigned>(found.size());
    if (functions_.processes == nullptr || functions_.processes(device_, &count, found.data()) != 0) return {};
    std::vector<int> pids;
    for (unsigned i = 0; i < count; ++i) pids.push_back(static_cast<int>(found[i].pid));
    return pids;
  }

 private:
  NvmlFunctions functions_;
  NvmlFunctions::Device device_;
};

}  // namespace

NvmlFunctions NvmlFunctions::open() {
  NvmlFunctions functions;
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return functions;
  const auto find = [library]<typename Function>(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(::dlsym(library, symbol));
  };
  find(functions.init, "nvmlInit_v2");
  find(functions.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(functions.mig_mode, "nvmlDeviceGetMigMode");
  find(functions.card_of, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  find(functions.clock, "nvmlDeviceGetClockInfo");
  find(functions.power, "nvmlDeviceGetPowerUsage");
  find(functions.fields, "nvmlDeviceGetFieldValues");
  find(functions.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(functions.temperature, "nvmlDeviceGetTemperature");
  find(functions.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(functions.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(functions.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  return functions;
}

std::unique_ptr<Monitor> find_nvml(NvmlFunctions functions, const Uuid& uuid) {
  NvmlFunctions::Device device = nullptr;
  if (functions.init == nullptr || functions.device_by_uuid == nullptr || functions.init() != 0) return nullptr;
  const auto is_known = [&](const char* prefix) {
    return functions.device_by_uuid(uuid_text(prefix, uuid).c_str(), &device) == 0;
  };
  const bool is_card = is_known("GPU");
  if (!is_card && !(is_known("MIG") && functions.card_of != nullptr && functions.card_of(device, &device) == 0))
    return nullptr;
  // Older versions of CUDA give an instance its card's UUID.
  if (!is_card || is_split(functions, device)) {
    functions.fields = nullptr;
    functions.power = nullptr;
    functions.power_limit = nullptr;
    functions.energy = nullptr;
  }
  return std::make_unique<Nvml>(functions, device);
}

}  // namespace tune::worker

#include "tuning/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "config/reader/device_file.h"
#include "exec/device/devices.h"
#include "model/values/error.h"
#include "recording/journal.h"

namespace tune::tuning {

using Need = MachineRules::Need;

namespace {

/// Limits of NVIDIA's compute capabilities, of which this toolkit and later ones build code.
struct Capability {
  std::int64_t number, threads, blocks;  ///< of a multiprocessor
  std::int64_t shared_kib, block_kib;    ///< of a multiprocessor, and of one block that asks for more than 48
};
constexpr Capability kCapabilities[] = {
    {75, 1024, 16, 64, 64},    {80, 2048, 32, 164, 163}, {86, 1536, 16, 100, 99},   {87, 1536, 16, 164, 163},
    {89, 1536, 24, 100, 99},   {90, 2048, 32, 228, 227}, {100, 2048, 32, 228, 227}, {103, 2048, 32, 228, 227},
    {110, 1536, 24, 228, 227}, {120, 1536, 24, 100, 99}, {121, 1536, 24, 100, 99},
};

/// The LDS that a block may have. ROCm's "AMD GPU specifications" tell the size of a compute unit's.
struct Lds {
  std::string_view arch;
  std::int64_t kib;
};
constexpr Lds kLds[] = {{"gfx906", 64}, {"gfx908", 64}, {"gfx90a", 64}, {"gfx942", 64}, {"gfx950", 160}};

Device named(std::string_view arch) {
  Device device;
  device.name = device.arch = arch;
  device.properties["max_threads_per_block"] = std::int64_t{1024};
  return device;
}

Device device_of(std::string_view arch, const Capability& capability) {
  Device device = named(arch);
  auto& properties = device.properties;
  properties["compute_capability"] = capability.number;
  properties["warp_size"] = std::int64_t{32};
  properties["max_registers_per_block"] = std::int64_t{65536};
  properties["max_threads_per_multiprocessor"] = capability.threads;
  properties["max_blocks_per_multiprocessor"] = capability.blocks;
  properties["max_shared_per_multiprocessor"] = capability.shared_kib * 1024;
  properties["max_shared_per_block"] = capability.block_kib * 1024;
  return device;
}

/// The backend whose architectures have such names; nullptr: it tells none.
const BackendTraits* named_backend(std::string_view arch) {
  for (const BackendTraits& traits : backends())
    if (!traits.arch.empty() && arch.starts_with(traits.arch)) return &traits;
  return nullptr;
}

/// A device of which only the architecture is known: sm_90a, gfx90a. Its properties are the limits of a block, and on
/// NVIDIA's those of a multiprocessor, which are the same for all devices of the architecture. nullopt if they are not
/// known here. Sources: CUDA programming guide, "Technical Specifications per Compute Capability", and the toolkit's
/// cuda_occupancy.h; ROCm's "AMD GPU specifications".
std::optional<Device> known_device(std::string_view arch) {
  if (const auto* lds = std::ranges::find(kLds, arch, &Lds::arch); lds != std::end(kLds)) {
    Device device = named(arch);
    device.properties["warp_size"] = std::int64_t{64};
    device.properties["max_shared_per_block"] = lds->kib * 1024;
    return device;
  }
  if (!arch.starts_with("sm_")) return std::nullopt;
  std::int64_t number = 0;  // what follows it (sm_90a) adds instructions
  std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  const auto* const capability = std::ranges::find(kCapabilities, number, &Capability::number);
  return capability == std::end(kCapabilities) ? std::nullopt : std::optional(device_of(arch, *capability));
}

/// Whether code for this architecture is built by this backend; true for names that tell nothing.
bool is_built_by(std::string_view arch, Backend backend) {
  const auto* const named = named_backend(arch);
  return is_program(backend) || named == nullptr || named->backend == backend;
}

/// Whether a device of this architecture runs what the backend builds. GPUs are known by their names.
bool is_device_of(std::string_view arch, Backend backend) {
  return is_built_by(arch, backend) && (named_backend(arch) != nullptr || !is_gpu(backend));
}

// What a run for an architecture without a device knows of it.
Device required_device(const std::string& arch) {
  if (auto device = known_device(arch)) return *std::move(device);
  throw Error(ExitCode::bad_input,
              "--arch " + arch + ": the limits of this architecture are not known here; give them with --device-file");
}

}  // namespace

Machine::Machine(MachineSettings settings, MachineRules rules, exec::Workers& workers)
    : settings_(std::move(settings)), rules_(std::move(rules)), workers_(&workers) {
  if (settings_.device_file)
    stand_in_ = config::read_device(config::find_device_file(*settings_.device_file, rules_.known_devices));
  else if (settings_.arch && rules_.need == Need::names)
    stand_in_ = required_device(*settings_.arch);
  if (stand_in_ && settings_.arch) stand_in_->arch = *settings_.arch;
}

// Where there is no device, that for which code is built decides which backend's file is meant.
bool Machine::present(Backend backend) const {
  if (stand_in_) return is_built_by(stand_in_->arch, backend);
  if (settings_.arch) return is_built_by(*settings_.arch, backend);
  return workers_->present(backend);
}

// Throws Error(bad_input) if it is a device of another backend. `--arch` says for itself what is built for.
const Device& Machine::stand_in_for(Backend backend) const {
  const auto fits = [backend](const Device& device) { return is_device_of(device.arch, backend); };
  if (!settings_.device_file || settings_.arch || fits(*stand_in_)) return *stand_in_;
  const std::vector<std::string> known = config::known_devices(rules_.known_devices, fits);
  throw Error(
      ExitCode::bad_input,
      fmt::format("--device-file: {} ({}) is no device for the {} backend; {}", stand_in_->name, stand_in_->arch,
                  to_text(backend),
                  known.empty() ? fmt::format("give a file that tune --probe --backend {} wrote", to_text(backend))
                                : fmt::format("those that are known for it are {}", fmt::join(known, ", "))));
}

// A dry run need not have the device, and what is missing for a build is said when it is built.
std::optional<Device> Machine::limiting_device(Backend backend) {
  if (stand_in_ && settings_.arch && !is_built_by(*settings_.arch, backend))
    throw Error(ExitCode::bad_input,
                fmt::format("--arch {} is not for the {} backend", *settings_.arch, to_text(backend)));
  if (stand_in_) return stand_in_for(backend);
  try {
    return hello(backend).device;
  } catch (const Error& error) {
    if (rules_.need != Need::device && error.code() == ExitCode::environment) return std::nullopt;
    throw;
  }
}

// A worker that cannot even be probed may still not be needed: when the journal knows every spec, its device serves.
const wire::Hello& Machine::hello(Backend backend) {
  if (hello_) return *hello_;
  if (rules_.need == Need::compiler) return hello_.emplace(hello_for_building(backend));
  wire::Hello hello;
  try {
    hello = workers_->probe(backend);
    describe_chosen(hello);
  } catch (const Error& error) {
    if (error.code() != ExitCode::environment) throw;
    const auto last = recording::Journal::last_run_of(rules_.journal);
    if (!last || last->hello.backend != backend) throw;
    probe_failure_ = error.what();
    return hello_.emplace(last->hello);
  }
  return hello_.emplace(std::move(hello));
}

// The probe describes the first device there is; the first that the user names may be of another model.
void Machine::describe_chosen(wire::Hello& hello) const {
  if (!rules_.devices) return;
  const exec::ChosenDevice device = exec::choose_devices(rules_.devices, hello).front();
  if (device.index > 0) hello.device = workers_->describe(hello.backend, device.environment);
}

std::optional<wire::Hello> Machine::builder(Backend backend) const try {
  wire::Hello hello = hello_for_building(backend);
  return hello.compiler.empty() ? std::nullopt : std::optional(std::move(hello));
} catch (const Error&) {
  return std::nullopt;
}

// Building needs a compiler and the name of an architecture; a device only to take that name from.
wire::Hello Machine::hello_for_building(Backend backend) const {
  wire::Hello hello = workers_->probe_compiler(backend);
  if (hello.no_device.empty()) describe_chosen(hello);
  const bool gpu = is_gpu(backend);
  if (stand_in_)
    hello.device = *stand_in_;
  else if (gpu && settings_.arch && *settings_.arch != hello.device.arch)  // not the device that is here
    hello.device = known_device(*settings_.arch).value_or(Device());
  std::string& arch = hello.device.arch;
  if (settings_.arch && !gpu && !is_program(backend))
    throw Error(ExitCode::bad_input,
                "--arch is for CUDA, HIP and programs; on the CPU build.flags says it (-march=...)");
  if (settings_.arch) arch = *settings_.arch;
  if (arch.empty()) throw Error(ExitCode::environment, hello.no_device + "; say what to build for with --arch");
  if (!hello.archs.empty() && std::ranges::find(hello.archs, arch) == hello.archs.end())
    throw Error(ExitCode::bad_input, fmt::format("{} cannot build for '{}'; it knows {}", hello.compiler, arch,
                                                 fmt::join(hello.archs, " ")));
  if (hello.device.name.empty()) hello.device.name = arch;
  return hello;
}

}  // namespace tune::tuning

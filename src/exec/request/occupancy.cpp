#include "exec/request/occupancy.h"

#include <algorithm>

namespace tune::exec {
namespace {

constexpr std::int64_t kRegisterUnit = 256;     // registers are given to warps in this many
constexpr std::int64_t kWarpUnit = 4;           // and warps to the four parts of a multiprocessor
constexpr std::int64_t kReservedShared = 1024;  // bytes per block that the system takes, from capability 8.0 on
constexpr std::int64_t kSharedUnit = 128;

struct Limits {
  std::int64_t warp = 0, threads = 0, blocks = 0, registers = 0, shared = 0;
  std::int64_t reserved = kReservedShared;
};

std::int64_t round_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

std::optional<Limits> limits_of(const Device& device) {
  bool known = true;
  const auto property = [&](const char* name) {
    const std::int64_t value = device.integer(name).value_or(0);
    known = known && value > 0;
    return value;
  };
  Limits limits = {property("warp_size"), property("max_threads_per_multiprocessor"),
                   property("max_blocks_per_multiprocessor"), property("max_registers_per_block"),
                   property("max_shared_per_multiprocessor")};
  if (device.integer("compute_capability").value_or(80) < 80) limits.reserved = 0;
  return known ? std::optional(limits) : std::nullopt;
}

double occupancy_of(const wire::KernelLaunch& launch, std::int64_t registers, std::int64_t shared,
                    const Limits& limits) {
  const std::int64_t threads = threads_of(launch);
  const std::int64_t warps = (threads + limits.warp - 1) / limits.warp, most_warps = limits.threads / limits.warp;
  const std::int64_t per_warp = std::max(kRegisterUnit, round_up(registers * limits.warp, kRegisterUnit));
  const std::int64_t warps_by_registers = limits.registers / per_warp / kWarpUnit * kWarpUnit;
  const std::int64_t bytes = std::max(kSharedUnit, round_up(shared + launch.shared + limits.reserved, kSharedUnit));
  const std::int64_t blocks =
      std::min({limits.blocks, most_warps / warps, warps_by_registers / warps, limits.shared / bytes});
  return static_cast<double>(blocks * warps) / static_cast<double>(most_warps);
}

/// A SIMD of a compute unit, which has four: the waves it holds, the vector registers it has for each of their lanes,
/// and how many of these are given at a time. Then the LDS of the compute unit and what is given of it at a time, in
/// bytes.
struct Simd {
  const char* arch;
  std::int64_t waves, registers, unit, lds, lds_unit;
};
constexpr Simd kSimds[] = {{"gfx906", 10, 256, 4, 65536, 512},
                           {"gfx908", 10, 256, 4, 65536, 512},
                           {"gfx90a", 8, 512, 8, 65536, 512},
                           {"gfx942", 8, 512, 8, 65536, 512},
                           {"gfx950", 8, 512, 8, 163840, 2048}};
constexpr std::int64_t kSimdsPerUnit = 4, kWave = 64;
constexpr std::int64_t kGroupsPerUnit = 16;  // of more than one wave: each needs a barrier

double occupancy_of(const wire::KernelLaunch& launch, std::int64_t registers, std::int64_t shared, const Simd& simd) {
  const std::int64_t waves = (threads_of(launch) + kWave - 1) / kWave;
  const std::int64_t by_registers = simd.registers / std::max(simd.unit, round_up(registers, simd.unit));
  const std::int64_t most = kSimdsPerUnit * simd.waves, places = kSimdsPerUnit * std::min(simd.waves, by_registers);
  const std::int64_t bytes = std::max(simd.lds_unit, round_up(shared + launch.shared, simd.lds_unit));
  const std::int64_t groups = std::min({waves > 1 ? kGroupsPerUnit : most, places / waves, simd.lds / bytes});
  return static_cast<double>(groups * waves) / static_cast<double>(most);
}

template <typename Rules>
double least_of(const std::vector<wire::KernelLaunch>& launches, double registers, double shared, const Rules& rules) {
  double least = 1;
  for (const wire::KernelLaunch& launch : launches)
    least = std::min(
        least, occupancy_of(launch, static_cast<std::int64_t>(registers), static_cast<std::int64_t>(shared), rules));
  return least;
}

}  // namespace

std::int64_t threads_of(const wire::KernelLaunch& launch) {
  std::int64_t threads = 1;
  for (const std::int64_t extent : launch.block) threads *= std::max<std::int64_t>(1, extent);
  return threads;
}

std::optional<double> occupancy(const std::vector<wire::KernelLaunch>& launches,
                                const std::map<std::string, double>& properties, const Device& device) {
  const auto registers = properties.find("registers"), shared = properties.find("shared");
  if (launches.empty() || registers == properties.end() || shared == properties.end()) return std::nullopt;
  for (const Simd& simd : kSimds)
    if (device.arch == simd.arch) return least_of(launches, registers->second, shared->second, simd);
  const auto limits = limits_of(device);
  if (!limits || device.arch.starts_with("gfx")) return std::nullopt;
  return least_of(launches, registers->second, shared->second, *limits);
}

}  // namespace tune::exec

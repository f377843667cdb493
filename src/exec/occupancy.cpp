#include "exec/occupancy.h"

#include <algorithm>

namespace tune {
namespace {

constexpr std::int64_t kRegisterUnit = 256;     // registers are given to warps in this many
constexpr std::int64_t kWarpUnit = 4;           // and warps to the four parts of a multiprocessor
constexpr std::int64_t kReservedShared = 1024;  // bytes per block that the system takes
constexpr std::int64_t kSharedUnit = 128;

struct Limits {
  std::int64_t warp = 0, threads = 0, blocks = 0, registers = 0, shared = 0;
};

std::int64_t round_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

std::optional<Limits> limits_of(const Device& device) {
  bool known = true;
  const auto property = [&](const char* name) {
    const auto found = device.properties.find(name);
    const auto* value = found == device.properties.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    known = known && value != nullptr && *value > 0;
    return value ? *value : 0;
  };
  const Limits limits = {property("warp_size"), property("max_threads_per_multiprocessor"),
                         property("max_blocks_per_multiprocessor"), property("max_registers_per_block"),
                         property("max_shared_per_multiprocessor")};
  return known ? std::optional(limits) : std::nullopt;
}

double occupancy_of(const wire::KernelLaunch& launch, std::int64_t registers, std::int64_t shared,
                    const Limits& limits) {
  std::int64_t threads = 1;
  for (const std::int64_t extent : launch.block) threads *= std::max<std::int64_t>(1, extent);
  const std::int64_t warps = (threads + limits.warp - 1) / limits.warp, most_warps = limits.threads / limits.warp;
  const std::int64_t per_warp = std::max(kRegisterUnit, round_up(registers * limits.warp, kRegisterUnit));
  const std::int64_t warps_by_registers = limits.registers / per_warp / kWarpUnit * kWarpUnit;
  const std::int64_t bytes = round_up(shared + launch.shared + kReservedShared, kSharedUnit);
  const std::int64_t blocks =
      std::min({limits.blocks, most_warps / warps, warps_by_registers / warps, limits.shared / bytes});
  return static_cast<double>(blocks * warps) / static_cast<double>(most_warps);
}

}  // namespace

std::optional<double> occupancy(const std::vector<wire::KernelLaunch>& launches,
                                const std::map<std::string, double>& properties, const Device& device) {
  const auto limits = limits_of(device);
  const auto registers = properties.find("registers"), shared = properties.find("shared");
  if (!limits || launches.empty() || registers == properties.end() || shared == properties.end()) return std::nullopt;
  double least = 1;
  for (const wire::KernelLaunch& launch : launches)
    least = std::min(least, occupancy_of(launch, static_cast<std::int64_t>(registers->second),
                                         static_cast<std::int64_t>(shared->second), *limits));
  return least;
}

}  // namespace tune

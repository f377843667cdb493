#include "config/reader/device_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tune::config {
namespace {

// The same for all devices of the last ten years (CUDA programming guide, "Technical Specifications per Compute
// Capability"); AMD's allow as much.
constexpr std::array<std::int64_t, 3> kGrid = {2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> kBlock = {1024, 1024, 64};
constexpr std::int64_t kClusterBlocks = 16;  // beyond 8 with the attribute that the worker sets
constexpr std::int64_t kClusterCapability = 90;

std::string product(const std::vector<Expression>& extents) {
  std::string text = "1";
  for (const Expression& extent : extents) text += fmt::format("*({})", extent.text());
  return text;
}

/// The limits of one launch.
class Limits {
 public:
  Limits(const Launch& launch, const Device& device, const Names& names, std::vector<Constraint>& found)
      : launch_(launch), device_(device), names_(names), found_(found) {}

  void add(bool clusters) {
    add_extents("grid", launch_.grid, kGrid);
    if (const auto most = device_.integer("max_threads_per_block"); most && !launch_.block.empty())
      add(fmt::format("{} <= {}", product(launch_.block), *most),
          fmt::format("launch.block of {}: {} allows {} threads", launch_.kernel, device_.name, *most));
    add_extents("block", launch_.block, kBlock);
    if (const auto most = device_.integer("max_shared_per_block"); most && launch_.shared)
      add(fmt::format("0 <= ({}) <= {}", launch_.shared->text(), *most),
          fmt::format("launch.shared of {}: {} allows {} bytes", launch_.kernel, device_.name, *most));
    if (clusters && !launch_.cluster.empty()) add_cluster();
  }

 private:
  void add(const std::string& condition, const std::string& reason) {
    const std::string guard = launch_.condition ? fmt::format("not ({}) or ", launch_.condition->text()) : "";
    found_.push_back({Expression::parse(fmt::format("{}({})", guard, condition), names_), reason});
  }

  void add_extents(const char* what, const std::vector<Expression>& extents, const std::array<std::int64_t, 3>& most) {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < std::min(extents.size(), most.size()); ++i)
      conditions.push_back(fmt::format("1 <= ({}) <= {}", extents[i].text(), most[i]));
    if (conditions.empty()) return;
    add(fmt::format("{}", fmt::join(conditions, " and ")),
        fmt::format("launch.{} of {} must be from 1 to [{}]", what, launch_.kernel,
                    fmt::join(std::span(most).first(conditions.size()), ", ")));
  }

  void add_cluster() {
    const std::string blocks = product(launch_.cluster);
    if (const auto capability = device_.integer("compute_capability"); capability && *capability < kClusterCapability)
      return add(fmt::format("{} == 1", blocks),
                 fmt::format("launch.cluster of {}: {} has compute capability {}.{}, "
                             "clusters need 9.0",
                             launch_.kernel, device_.name, *capability / 10, *capability % 10));
    add(fmt::format("1 <= {} <= {}", blocks, kClusterBlocks),
        fmt::format("launch.cluster of {} must be from 1 to {} blocks", launch_.kernel, kClusterBlocks));
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < std::min(launch_.grid.size(), launch_.cluster.size()); ++i)
      conditions.push_back(fmt::format("({}) % ({}) == 0", launch_.grid[i].text(), launch_.cluster[i].text()));
    if (!conditions.empty())
      add(fmt::format("{}", fmt::join(conditions, " and ")),
          fmt::format("launch.grid of {}: not a multiple of launch.cluster", launch_.kernel));
  }

  const Launch& launch_;
  const Device& device_;
  const Names& names_;
  std::vector<Constraint>& found_;
};

}  // namespace

std::vector<Constraint> device_limits(std::span<const Launch> launches, Backend backend, const Device& device,
                                      const Names& names) {
  std::vector<Constraint> found;
  if (!is_gpu(backend)) return found;
  for (const Launch& launch : launches) Limits(launch, device, names, found).add(traits_of(backend).has_clusters);
  return found;
}

}  // namespace tune::config

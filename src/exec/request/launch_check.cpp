#include "exec/request/launch_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/request/occupancy.h"
#include "wire/argument_lists.h"
#include "wire/binaries/code_object.h"
#include "wire/binaries/cubin.h"

namespace tune::exec {
namespace {

using Fault = std::optional<std::string>;

/// What the code says of one kernel; empty or 0 where it says nothing.
struct Kernel {
  std::vector<std::size_t> parameters;
  std::vector<bool> addresses;
  std::int64_t max_threads = 0;
  std::optional<std::int64_t> shared;  ///< declared in the source
};

std::map<std::string, Kernel> kernels_in(Backend backend, std::string_view code) {
  std::map<std::string, Kernel> kernels;
  if (backend == Backend::cuda)
    for (auto& [name, kernel] : wire::read_cubin(code)) kernels[name] = {kernel.parameters, {}, kernel.max_threads, {}};
  if (backend == Backend::hip)
    for (auto& [name, kernel] : wire::read_code_object(code))
      kernels[name] = {kernel.parameters, kernel.addresses, kernel.max_threads, kernel.shared};
  return kernels;
}

/// alpha and beta have the accumulator's type.
std::size_t size_of_factor(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (gemm == nullptr) return 0;
  return gemm->acc == Type::f64 ? 8 : gemm->acc == Type::f16 ? 2 : 4;
}

std::size_t size_of(const wire::Arg& arg, const Problem& problem) {
  switch (arg.kind) {
    case Argument::Kind::buffer:
      return 8;
    case Argument::Kind::scalar:
      return arg.type == Argument::Scalar::i32 || arg.type == Argument::Scalar::f32 ? 4 : 8;
    case Argument::Kind::tensor_map:
      return 128;
    case Argument::Kind::alpha:
    case Argument::Kind::beta:
      return size_of_factor(problem);
  }
  return 0;
}

Fault argument_fault(const wire::KernelLaunch& launch, const Problem& problem, const Kernel& kernel) {
  const bool knows_addresses = !kernel.addresses.empty();
  const auto type_of = [&](std::size_t size, bool is_address) {
    return knows_addresses && is_address ? "a pointer" : fmt::format("{} bytes", size);
  };
  std::vector<wire::ListedArgument> parameters, entries;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    parameters.push_back({type_of(kernel.parameters[i], i < kernel.addresses.size() && kernel.addresses[i])});
  for (const wire::Arg& arg : launch.args)
    entries.push_back({type_of(size_of(arg, problem), arg.kind == Argument::Kind::buffer), wire::name_of(arg)});
  return wire::misfit(launch.kernel, parameters, entries);
}

Fault block_fault(const wire::KernelLaunch& launch, const Kernel& kernel, const Device& device) {
  const std::int64_t threads = threads_of(launch);
  if (kernel.max_threads > 0 && threads > kernel.max_threads)
    return fmt::format(
        "a block of {} has more threads than the kernel was built for\n{} threads; its "
        "__launch_bounds__ allow {}",
        launch.kernel, threads, kernel.max_threads);
  if (const auto most = device.integer("max_threads_per_block"); most && threads > *most)
    return fmt::format("a block of {} has too many threads\n{} threads; {} allows {}", launch.kernel, threads,
                       device.name, *most);
  const std::int64_t declared = kernel.shared.value_or(0);
  if (const auto most = device.integer("max_shared_per_block"); most && declared + launch.shared > *most)
    return fmt::format(
        "a block of {} needs too much shared memory\n{} bytes, of which the source declares {} and "
        "launch.shared asks for {}; {} allows {}",
        launch.kernel, declared + launch.shared, declared, launch.shared, device.name, *most);
  return std::nullopt;
}

// Warps get registers in units of 256 (CUDA programming guide, "Multiprocessor level").
Fault register_fault(const wire::KernelLaunch& launch, std::int64_t registers, const Device& device) {
  const auto warp = device.integer("warp_size"), most = device.integer("max_registers_per_block");
  if (!warp || !most || *warp < 1) return std::nullopt;
  const std::int64_t warps = (threads_of(launch) + *warp - 1) / *warp;
  const std::int64_t needed = warps * ((registers * *warp + 255) / 256 * 256);
  if (needed <= *most) return std::nullopt;
  return fmt::format("a block of {} needs too many registers\n{} threads with {} each need {}; {} allows {}",
                     launch.kernel, threads_of(launch), registers, needed, device.name, *most);
}

bool all_are_of_one_kernel(std::span<const wire::KernelLaunch> launches) {
  return std::ranges::all_of(launches,
                             [&](const wire::KernelLaunch& launch) { return launch.kernel == launches[0].kernel; });
}

}  // namespace

std::optional<std::string> launch_fault(Backend backend, std::string_view code,
                                        const std::map<std::string, double>& properties,
                                        std::span<const wire::KernelLaunch> launches, const Problem& problem,
                                        const Device& device) try {
  auto kernels = kernels_in(backend, code);
  // The build tells the most that any of its kernels needs.
  const bool one_kernel = backend == Backend::cuda && all_are_of_one_kernel(launches);
  const auto told = [&](const char* name) {
    const auto found = properties.find(name);
    return found == properties.end() ? 0 : static_cast<std::int64_t>(found->second);
  };
  for (const wire::KernelLaunch& launch : launches) {
    const auto kernel = kernels.find(launch.kernel);
    if (kernel == kernels.end()) continue;
    if (one_kernel) kernel->second.shared = told("shared");
    if (auto fault = argument_fault(launch, problem, kernel->second)) return fault;
    if (auto fault = block_fault(launch, kernel->second, device)) return fault;
    if (!one_kernel) continue;
    if (auto fault = register_fault(launch, told("registers"), device)) return fault;
  }
  return std::nullopt;
} catch (const wire::Malformed&) {
  return std::nullopt;  // another toolkit's format tells nothing
}

}  // namespace tune::exec

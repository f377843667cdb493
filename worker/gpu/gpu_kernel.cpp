#include "gpu/gpu_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "backend.h"
#include "gpu/gpu_vendor.h"
#include "platform/store/store.h"
#include "wire/argument_lists.h"

namespace tune::worker {
namespace {

constexpr std::size_t kCopies = 8;

[[noreturn]] void refuse_launch(const std::string& text) { throw SpecFailure(Stage::load, text); }

GpuLaunch::Extents extents(const std::vector<std::int64_t>& values, const char* what) {
  GpuLaunch::Extents result = {1, 1, 1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 1 || values[i] > std::numeric_limits<std::int32_t>::max())
      refuse_launch(
          fmt::format("launch.{} cannot be [{}]: every entry must be at least 1", what, fmt::join(values, ", ")));
    result.at(i) = static_cast<unsigned>(values[i]);
  }
  return result;
}

}  // namespace

GpuKernel::GpuKernel(const Gpu& gpu, const std::string& artifact, std::vector<wire::KernelLaunch> launches,
                     Problem problem, const AddressOf& address)
    : gpu_(&gpu),
      launches_(std::move(launches)),
      problem_(std::move(problem)),
      code_(platform::read_file(artifact)),
      artifact_(artifact) {
  load_copy();
  for (const wire::KernelLaunch& rules : launches_) {
    Call call = describe(rules);
    for (call.turn = 0; call.turn < rules.repeat; ++call.turn) calls_.push_back(call);
  }
  bind(address);
  for (const Call& call : calls_)
    if (call.turn == 0) verify_parameters(call, call.rules->kernel);
  find_functions();
}

void GpuKernel::find_functions() {
  for (Call& call : calls_) call.launch.function = module().function(call.rules->kernel);
  for (const Call& call : calls_)
    if (call.turn == 0) allow_shared_memory(call, call.rules->kernel);
}

void GpuKernel::move() {
  if (copies_.size() < kCopies) load_copy();
  copy_ = (copy_ + 1) % copies_.size();
  find_functions();
}

// A module with large arrays may not fit a second time.
void GpuKernel::load_copy() try {
  copies_.push_back(std::make_unique<GpuModule>(*gpu_, code_, artifact_));
} catch (const GpuError&) {
  if (copies_.empty()) throw;
}

GpuKernel::Call GpuKernel::describe(const wire::KernelLaunch& rules) const {
  Call call{&rules, 0, {}, {}, {}, {}};
  call.launch.grid = extents(rules.grid, "grid");
  call.launch.block = extents(rules.block, "block");
  if (!rules.cluster.empty()) call.launch.cluster = extents(rules.cluster, "cluster");
  if (rules.shared < 0 || rules.shared > std::numeric_limits<std::int32_t>::max())
    refuse_launch(fmt::format("launch.shared cannot be {} bytes", rules.shared));
  call.launch.shared = static_cast<unsigned>(rules.shared);
  call.text = fmt::format("{}: grid [{}], block [{}], {} bytes of dynamic shared memory", rules.kernel,
                          fmt::join(rules.grid, ", "), fmt::join(rules.block, ", "), rules.shared);
  if (!rules.cluster.empty()) call.text += fmt::format(", cluster [{}]", fmt::join(rules.cluster, ", "));
  return call;
}

void GpuKernel::bind(const AddressOf& address) {
  for (Call& call : calls_) {
    const auto in_turn = [&](const std::string& buffer) {
      return address(wire::buffer_of(*call.rules, buffer, call.turn));
    };
    call.arguments.clear();
    call.pointers.clear();
    for (const wire::Arg& arg : call.rules->args)
      call.arguments.push_back(make_argument(*gpu_, arg, problem_, in_turn));
    for (GpuArgument& argument : call.arguments) call.pointers.push_back(argument.bytes.data());
  }
}

void GpuKernel::verify_parameters(const Call& call, const std::string& kernel) const {
  const std::vector<std::size_t> sizes = module().parameter_sizes(kernel);
  std::vector<wire::ListedArgument> parameters, entries;
  for (const std::size_t size : sizes) parameters.push_back({fmt::format("{} bytes", size)});
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    entries.push_back({fmt::format("{} bytes", call.arguments[i].size), wire::name_of(call.rules->args[i])});
  if (const auto misfit = wire::misfit(kernel, parameters, entries)) refuse_launch(*misfit);
}

void GpuKernel::allow_shared_memory(const Call& call, const std::string& kernel) const {
  const auto& [x, y, z] = call.launch.block;
  const auto threads = std::uint64_t{x} * y * z, most = static_cast<std::uint64_t>(gpu_->attribute(gpu::kMaxThreads));
  if (threads > most)
    refuse_launch(fmt::format("a block of {} has {} threads; the device allows {}", kernel, threads, most));
  int declared = 0;
  gpu_->check(gpu_->driver().function_attribute(&declared, gpu::kStaticShared, call.launch.function));
  const auto shared = static_cast<int>(call.launch.shared), limit = gpu_->attribute(gpu::kMaxShared);
  if (shared > limit - declared)
    refuse_launch(fmt::format("a block of {} needs {} bytes of shared memory; the device allows {}", kernel,
                              std::int64_t{shared} + declared, limit));
  // The limit is the function's: another launch of it may need more.
  GpuLaunch largest = call.launch;
  for (const Call& other : calls_)
    if (other.launch.function == largest.function) largest.shared = std::max(largest.shared, other.launch.shared);
  gpu_->check(gpu::allow(gpu_->driver(), largest), call.text);
}

void GpuKernel::launch_programmatically(bool on) {
  for (Call& call : calls_) call.launch.programmatic = on && call.rules->programmatic;
}

void GpuKernel::launch() {
  for (Call& call : calls_) gpu_->launch(call.launch, call.pointers.data(), call.text);
}

}  // namespace tune::worker

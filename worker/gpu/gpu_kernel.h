#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu_argument.h"

namespace tune::worker {

/// The launches of a built artifact, bound to their arguments. What can be known before a launch is verified: the
/// kernels' parameters against the arguments, and threads and shared memory against the device's limits.
class GpuKernel {
 public:
  /// `gpu` outlives this. Throws SpecFailure of the load stage, GpuError.
  GpuKernel(const Gpu& gpu, const std::string& artifact, std::vector<wire::KernelLaunch> launches, Problem problem,
            const AddressOf& address);

  /// Goes on with another copy of the code, which lies elsewhere on the device. It has to be bound then. Throws
  /// GpuError.
  void move();
  /// From now on, launches with these addresses of the buffers.
  void bind(const AddressOf& address);

  /// Launches the kernels, in order, and does not wait. Throws GpuError.
  void launch();
  /// How many kernels that is.
  std::int64_t launches() const { return std::ssize(calls_); }
  /// Whether the first may begin before what is ahead of it has ended.
  bool is_programmatic() const { return !calls_.empty() && calls_.front().rules->programmatic; }
  /// From now on, they do if `on`. What is timed does not, so that all of it lies behind the event in front of it.
  void launch_programmatically(bool on);

 private:
  struct Call {
    const wire::KernelLaunch* rules;
    std::int64_t turn = 0;  ///< of its repetitions
    GpuLaunch launch;
    std::vector<GpuArgument> arguments;
    std::vector<void*> pointers;  ///< to the arguments
    std::string text;             ///< what is launched, for messages
  };
  Call describe(const wire::KernelLaunch& rules) const;
  void load_copy();
  void find_functions();
  const GpuModule& module() const { return *copies_[copy_]; }
  void verify_parameters(const Call& call, const std::string& kernel) const;
  void allow_shared_memory(const Call& call, const std::string& kernel) const;

  const Gpu* gpu_;
  const std::vector<wire::KernelLaunch> launches_;
  const Problem problem_;
  std::string code_, artifact_;
  std::vector<std::unique_ptr<GpuModule>> copies_;  ///< of the code, of which one is launched
  std::size_t copy_ = 0;
  std::vector<Call> calls_;
};

}  // namespace tune::worker

#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "checking/verifier.h"
#include "gpu/gpu_helpers.h"
#include "gpu/gpu_shared_reference.h"
#include "wire/messages.h"

namespace tune::worker {

/// The buffers of one problem and the workspace on a device, each between two guard bands, and what has to happen to
/// them around a launch. The device decides whether they are right; only what is not is copied to the host, which says
/// what is wrong with it.
///
/// Every launch of a GEMM has inputs of its own, whose result costs nothing to know: the signs of A and B at two values
/// of k each are turned, which changes the result by a matrix of rank four. And wherever the buffers are laid, which is
/// now and then elsewhere, all matrices are rotated by random amounts, as on the CPU (rotated_inputs.h): copied from
/// originals, which is quicker than to make them anew.
class GpuMemory {
 public:
  static constexpr std::size_t kBand = 64 << 10;    ///< bytes of a guard band; keeps buffers aligned
  static constexpr std::size_t kShift = 256 << 10;  ///< bytes from a buffer's first place to its second
  enum class Place { first, second };

  /// Takes all memory but the workspace, copies the reference and makes the originals. `seed` decides how inputs vary.
  /// All references outlive this. Throws GpuError, SpecFailure of the load stage.
  GpuMemory(const Gpu& gpu, const GpuHelpers& helpers, const wire::MeasureRequest& request, Verifier& verifier,
            std::uint64_t seed);
  /// Keeps what memory a workspace had for one that is not larger. Throws GpuError.
  void set_workspace(std::int64_t bytes, bool zero);

  /// The address a kernel gets for a buffer or `workspace`, which depends on the place. Throws SpecFailure for an
  /// unknown name.
  gpu::Address address(const std::string& name) const;

  /// Takes the memory of all buffers anew, elsewhere on the device. They have to be laid then. Throws GpuError.
  void move();
  /// Moves all buffers to a place within their memory, and makes guard bands and inputs there, rotated anew.
  void lay(Place place);
  /// At random, once in four calls: lays all buffers to the other place, once the guard bands are verified. Returns
  /// whether it did. Throws SpecFailure if a guard band was hit.
  bool wander();
  /// Has the inputs hold Verifier::other_content(). lay() ends that.
  void fill_otherwise();
  /// Before each launch: changes the inputs, poisons what the kernel writes, and restores what it reads and writes.
  void prepare(Poison pattern);
  /// Prepares a launch, and writes this input last and late, so that a programmatic launch that does not wait reads
  /// zeros.
  void prepare_late(std::size_t input, Poison pattern);
  /// The numbers of the buffers that kernels read.
  std::vector<std::size_t> inputs() const;
  /// Only changes the inputs: turns other signs.
  void vary();
  /// All but that.
  void reset(Poison pattern);
  /// What belongs to the timed launch: zeroes the workspace, and C for kernels that add to it.
  void zero();
  /// Takes all buffers out of the caches by reading as much as twice what they hold. Nothing is left that the next
  /// kernel would have to write back, as a flush that writes leaves it.
  void flush();

  /// Throws SpecFailure if an output is not right after a launch. Returns the largest error over its tolerance.
  double verify_outputs(Poison pattern);
  /// Throws SpecFailure if a guard band was hit, an input was changed, or the reference is not what it was.
  void verify_surroundings();

 private:
  struct Guarded {
    std::string name;
    std::size_t bytes = 0;
    DeviceMemory memory;
  };
  static constexpr gpu::Turns kNone{{-1, -1, -1, -1}};
  /// An output, and what it is compared with.
  struct Output {
    std::size_t buffer;
    GpuHelpers::Comparison comparison;
  };
  static std::size_t around(std::size_t size);
  Guarded guarded(const std::string& name, std::int64_t bytes) const;
  void guard(Guarded& buffer);
  void fill_with(Content content, std::size_t buffer, gpu::Address to) const;
  void make_originals();
  std::uint64_t digest_of_kept() const;
  RotatedView matrices(std::size_t buffer) const;
  bool has_padding(std::size_t buffer) const;
  std::size_t start() const { return kBand + (place_ == Place::first ? 0 : kShift); }
  gpu::Address address(const Guarded& buffer) const { return buffer.memory.address() + start(); }
  void take_reference(const wire::MeasureRequest& request);
  void take_own_reference(const wire::MeasureRequest& request);
  void describe_outputs();
  GpuHelpers::Comparison comparison(std::size_t buffer) const;
  void prepare_variation();
  void fill(std::size_t buffer, bool late = false);
  void restore(std::size_t buffer, bool late = false);
  void turn_signs(const gpu::Turns& to);
  std::int64_t below(std::int64_t count);
  void find_guard_difference() const;
  void verify_guards() const;
  void find_difference(std::size_t input) const;
  double verify_on_host(std::size_t buffer, Poison pattern) const;
  TurnedSigns signs_on_host() const;

  const Gpu& gpu_;
  const GpuHelpers& helpers_;
  Verifier& verifier_;
  std::uint64_t seed_of_inputs_;
  bool zero_workspace_ = false, zero_c_;
  Place place_ = Place::first;
  std::vector<Guarded> buffers_;  ///< by number; then the workspace, if there is one
  std::vector<Output> outputs_;
  DeviceMemory spare_;    ///< of a workspace that there is no more
  DeviceMemory offsets_;  ///< of groups, which the kernels that judge read: none has written them
  DeviceMemory reference_, clean_, by_row_, by_col_;
  std::vector<DeviceMemory> originals_;  ///< of what kernels read, by number; of other buffers without memory
  std::uint64_t kept_digest_ = 0;        ///< of the reference and the originals
  double largest_addend_ = 0;            ///< of a GEMM's reference
  std::mt19937_64 random_;
  bool varies_ = false;  ///< inputs do
  Rotation rotation_;
  gpu::Turns turned_ = kNone;
};

}  // namespace tune::worker

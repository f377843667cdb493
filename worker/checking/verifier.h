#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "checking/compare_result.h"
#include "checking/guarded_buffer.h"
#include "checking/inputs.h"
#include "checking/reference_file.h"
#include "wire/messages.h"

namespace tune::worker {

/// Decides whether what a kernel left in memory is right. Knows the problem's buffers by their numbers (see
/// `buffers_of`), what they hold before a launch, and the reference; takes host copies, so that every backend can use
/// it. Throws SpecFailure of the check stage where something is wrong.
class Verifier {
 public:
  /// Without a reference only inputs and padding are verified.
  explicit Verifier(const wire::MeasureRequest& request);

  /// With leading dimensions and strides written out.
  const Problem& problem() const { return problem_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  bool has_reference() const { return !path_.empty(); }
  bool has_reference_file() const { return std::filesystem::exists(path_); }
  /// What the values are, where there is no file of them.
  void provide(std::vector<double> reference) { provided_ = std::move(reference); }
  /// Whether a launch reads what it overwrites: then a second one without new inputs computes something else.
  bool needs_restoring() const;
  /// What outputs are poisoned with: a checked run for each.
  std::vector<Poison> patterns() const;
  /// What the buffer is filled with before a launch; nullopt: poison.
  std::optional<Content> content(std::size_t buffer) const;
  /// Whether all launches that are verified have the same inputs, as those of a custom problem do, and a launch whose
  /// result nobody knows can have others.
  bool has_other_inputs() const;
  /// Those, for a buffer that has a content. Precondition: has_other_inputs().
  Content other_content(std::size_t buffer) const;

  /// All values of the reference, whose file is mapped when they are first asked for, and those of one output of a
  /// custom problem. Precondition: has_reference(). Throws SpecFailure of the load stage.
  std::span<const double> reference() const;
  std::span<const double> reference_of(std::size_t buffer) const;

  /// Verifies one buffer after a launch. Returns the largest error over its tolerance: 0 for inputs, at most 1.
  /// `variation` has to be one that the problem can have.
  double verify(std::size_t buffer, const void* data, Poison pattern, const Variation& variation = {}) const;

 private:
  std::optional<std::string> damage(std::size_t buffer, const void* data, const Rotation& rotation) const;
  double verify_output(std::size_t buffer, const void* data, Poison pattern, const Variation& variation) const;
  void keep(std::size_t buffer, const void* data, const Variation& variation) const;

  Problem problem_;
  std::vector<Buffer> buffers_;
  std::uint64_t seed_;
  bool zero_c_;
  std::filesystem::path keep_;
  std::filesystem::path path_;
  std::string identity_;
  mutable std::unique_ptr<const ReferenceFile> reference_;
  std::vector<double> provided_;
};

}  // namespace tune::worker

#include "checking/verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend.h"
#include "checking/layout.h"
#include "platform/store/store.h"

namespace tune::worker {
namespace {

Problem with_strides(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return resolved(*gemm);
  return problem;
}

/// Whether every poisoned element of this type is a NaN. If so, one launch is enough to check the output.
bool has_nan(Type type) { return unit_roundoff(type) != 0 && size_of(type) > 1; }

void refuse_if(const std::optional<std::string>& damage) {
  if (damage) throw SpecFailure(Stage::check, *damage);
}

std::string_view bytes_of(const void* data, std::int64_t count, std::int64_t size) {
  return {static_cast<const char*>(data), static_cast<std::size_t>(count * size)};
}

}  // namespace

Verifier::Verifier(const wire::MeasureRequest& request)
    : problem_(with_strides(request.problem)),
      buffers_(buffers_of(problem_)),
      seed_(request.seed),
      zero_c_(request.kernel() != nullptr && request.kernel()->zero_c),
      keep_(request.keep),
      path_(request.reference),
      identity_(reference_identity(request.problem, request.seed)) {}

std::span<const double> Verifier::reference() const {
  if (!provided_.empty()) return provided_;
  if (!reference_) reference_ = std::make_unique<ReferenceFile>(path_, identity_);
  return reference_->values();
}

bool Verifier::needs_restoring() const {
  return std::ranges::any_of(buffers_, [](const Buffer& buffer) { return buffer.role == Buffer::Role::inout; });
}

std::vector<Poison> Verifier::patterns() const {
  const bool numbers = std::any_of(buffers_.begin(), buffers_.end(), [](const Buffer& buffer) {
    return buffer.role == Buffer::Role::out && !has_nan(buffer.type);
  });
  return numbers ? std::vector{Poison::nan, Poison::other} : std::vector{Poison::nan};
}

std::optional<Content> Verifier::content(std::size_t index) const {
  const Buffer& buffer = buffers_[index];
  // Only a GEMM's C is an output that a launch may find zeroed.
  if (buffer.role == Buffer::Role::out && !zero_c_) return std::nullopt;
  const auto* gemm = std::get_if<Gemm>(&problem_);
  Content content =
      gemm ? content_of(*gemm, index, seed_) : Content{buffer.type, source_of(buffer.init), seed_, index, buffer.scale};
  if (buffer.role == Buffer::Role::out) content.source = generator::Source::zeros;
  return content;
}

bool Verifier::has_other_inputs() const {
  if (!has_reference() || can_be_rotated(problem_)) return false;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (const auto filled = content(i);
        filled && filled->source != generator::Source::zeros && filled->source != generator::Source::iota)
      return true;
  return false;
}

Content Verifier::other_content(std::size_t index) const {
  Content other = *content(index);
  ++other.seed;
  return other;
}

double Verifier::verify(std::size_t index, const void* data, Poison pattern, const Variation& variation) const {
  if (buffers_[index].role != Buffer::Role::in) return verify_output(index, data, pattern, variation);
  refuse_if(damage(index, data, variation.rotation));
  return 0;
}

std::optional<std::string> Verifier::damage(std::size_t index, const void* data, const Rotation& rotation) const {
  const Buffer& buffer = buffers_[index];
  const auto* gemm = std::get_if<Gemm>(&problem_);
  if (gemm && rotation != Rotation()) return input_damage(*gemm, index, buffer, *content(index), data, rotation);
  return input_damage(buffer.name, *content(index), data, buffer.count);
}

double Verifier::verify_output(std::size_t index, const void* data, Poison pattern, const Variation& variation) const {
  const Buffer& buffer = buffers_[index];
  const auto* gemm = std::get_if<Gemm>(&problem_);
  Deviation deviation;
  if (gemm && has_reference())
    deviation = compare_gemm(*gemm, data, GemmReference(*gemm, reference(), seed_), pattern, variation);
  else if (has_reference())
    deviation = compare_custom(std::get<Custom>(problem_), buffer, data, reference_of(index), pattern);
  if (deviation.wrong > 0) {
    if (!keep_.empty()) keep(index, data, variation);
    throw SpecFailure(Stage::check, describe(deviation, buffer.name));
  }
  if (gemm)
    refuse_if(padding_damage(buffer.name, buffer.type, data, view_c(*gemm), groups_of_kept_padding(*gemm),
                             content(index), pattern));
  return deviation.largest_ratio;
}

std::span<const double> Verifier::reference_of(std::size_t index) const {
  std::size_t start = 0;
  for (std::size_t i = 0; i < index; ++i)
    if (buffers_[i].role != Buffer::Role::in) start += static_cast<std::size_t>(buffers_[i].count);
  return reference().subspan(start, static_cast<std::size_t>(buffers_[index].count));
}

void Verifier::keep(std::size_t index, const void* data, const Variation& variation) const {
  const Buffer& buffer = buffers_[index];
  std::filesystem::create_directories(keep_);
  platform::write_file(keep_ / fmt::format("{}.wrong.{}", buffer.name, to_text(buffer.type)),
                       bytes_of(data, buffer.count, size_of(buffer.type)));
  const auto* gemm = std::get_if<Gemm>(&problem_);
  const std::vector<double> right = gemm ? expected_result(*gemm, GemmReference(*gemm, reference(), seed_), variation)
                                         : std::vector<double>(reference_of(index).begin(), reference_of(index).end());
  platform::write_file(keep_ / fmt::format("{}.reference.f64", buffer.name),
                       bytes_of(right.data(), static_cast<std::int64_t>(right.size()), sizeof(double)));
}

}  // namespace tune::worker

#include "cpu/cpu_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend.h"
#include "measuring/cache_flush.h"

namespace tune::worker {
namespace {

/// What the guard bands of a buffer hold: a NaN that signals, where the type has one. A kernel that reads beyond its
/// inputs and writes what it computes beyond its outputs must not write what is there already: arithmetic makes such a
/// NaN quiet, which changes it, and one that is only copied from an input is another one.
Poison band_of(Type type, Buffer::Role role) {
  const std::uint16_t sort = role == Buffer::Role::in ? 5 : 3;
  switch (type) {
    case Type::f32:
    case Type::tf32:
    case Type::bf16:
      return Poison{static_cast<std::uint16_t>(0xffa0 | sort)};
    case Type::f16:
      return Poison{static_cast<std::uint16_t>(0xfca0 | sort)};
    default:
      return Poison{static_cast<std::uint16_t>(0xfff0 | sort)};
  }
}

}  // namespace

CpuMemory::CpuMemory(std::vector<GuardedBuffer> buffers, const Verifier& verifier)
    : verifier_(verifier), buffers_(std::move(buffers)) {
  poison_everything();
  originals_.resize(verifier.buffers().size());
  for (std::size_t i = 0; i < originals_.size(); ++i) {
    const auto content = verifier.content(i);
    if (!content) continue;
    fill(*content, buffers_[i].data(), verifier.buffers()[i].count);
    const auto* const data = static_cast<const std::byte*>(buffers_[i].data());
    if (!is_poisoned(i)) originals_[i].assign(data, data + buffers_[i].bytes());
  }
}

void CpuMemory::poison_everything() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool is_workspace = i >= verifier_.buffers().size();
    buffers_[i].poison_all(is_workspace ? band_of(Type::f32, Buffer::Role::out)
                                        : band_of(verifier_.buffers()[i].type, verifier_.buffers()[i].role));
  }
}

void CpuMemory::release() {
  for (GuardedBuffer& buffer : buffers_) buffer.release_pages();
}

void CpuMemory::refill() {
  poison_everything();
  rotation_ = {};
  for (std::size_t i = 0; i < originals_.size(); ++i)
    if (!is_poisoned(i)) std::memcpy(buffers_[i].data(), originals_[i].data(), originals_[i].size());
}

/// The workspace, and what is written without being read.
bool CpuMemory::is_poisoned(std::size_t buffer) const {
  return buffer >= verifier_.buffers().size() || verifier_.buffers()[buffer].role == Buffer::Role::out;
}

void CpuMemory::fill_buffer(std::size_t i, const Rotation& rotation) {
  const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
  if (gemm && can_be_rotated(*gemm))
    copy_rotated(size_of(verifier_.buffers()[i].type), rotated_view(*gemm, i, rotation), originals_[i].data(),
                 buffers_[i].data());
  else
    std::memcpy(buffers_[i].data(), originals_[i].data(), originals_[i].size());
}

/// A fast look; where it says no, the verifier finds out what is wrong, if anything is.
bool CpuMemory::is_intact_input(std::size_t i, const Rotation& rotation) const {
  const Buffer& buffer = verifier_.buffers()[i];
  if (buffer.role != Buffer::Role::in) return false;
  const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
  if (!gemm || !can_be_rotated(*gemm))
    return std::memcmp(buffers_[i].data(), originals_[i].data(), originals_[i].size()) == 0;
  const RotatedView rotated = rotated_view(*gemm, i, rotation);
  const bool has_padding = rotated.view.batch * rotated.view.rows * rotated.view.cols != buffer.count;
  return !has_padding && equals_rotated(size_of(buffer.type), rotated, originals_[i].data(), buffers_[i].data());
}

void CpuMemory::prepare(const LaunchSetting& setting) {
  const bool moved = setting.rotation != std::exchange(rotation_, setting.rotation);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!is_poisoned(i)) {
      if (moved || verifier_.buffers()[i].role == Buffer::Role::inout) fill_buffer(i, setting.rotation);
    } else if (!setting.stale) {
      poison({buffers_[i].data(), buffers_[i].bytes()}, setting.pattern);
    }
  }
}

void CpuMemory::fill_otherwise() {
  for (std::size_t i = 0; i < originals_.size(); ++i)
    if (!is_poisoned(i)) fill(verifier_.other_content(i), buffers_[i].data(), verifier_.buffers()[i].count);
}

void CpuMemory::flush() const {
  for (const GuardedBuffer& buffer : buffers_) flush_caches({buffer.data(), buffer.bytes()});
}

void CpuMemory::warm() const {
  for (const GuardedBuffer& buffer : buffers_) warm_caches({buffer.data(), buffer.bytes()});
}

double CpuMemory::verify(const LaunchSetting& setting) const {
  for (const GuardedBuffer& buffer : buffers_)
    if (const auto intrusion = buffer.intrusion()) throw SpecFailure(Stage::check, *intrusion);
  double largest = 0;
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (!is_intact_input(i, setting.rotation))
      largest = std::max(largest, verifier_.verify(i, buffers_[i].data(), setting.pattern, {setting.rotation, {}}));
  return largest;
}

}  // namespace tune::worker

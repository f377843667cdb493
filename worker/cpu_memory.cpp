#include "cpu_memory.h"

#include <algorithm>
#include <utility>

#include "backend.h"
#include "cache_flush.h"

namespace tune::worker {

CpuMemory::CpuMemory(std::vector<GuardedBuffer> buffers, const Verifier& verifier)
    : verifier_(verifier), buffers_(std::move(buffers)) {
  for (GuardedBuffer& buffer : buffers_) buffer.poison_all();
  for (std::size_t i = 0; i < verifier.buffers().size(); ++i)
    if (const auto content = verifier.content(i)) fill(*content, buffers_[i].data(), verifier.buffers()[i].count);
}

/// The workspace, and what is written without being read.
bool CpuMemory::is_poisoned(std::size_t buffer) const {
  return buffer >= verifier_.buffers().size() || verifier_.buffers()[buffer].role == Buffer::Role::out;
}

void CpuMemory::fill_buffer(std::size_t i, const Arrangement& arrangement) {
  const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
  if (gemm && can_be_arranged(*gemm))
    fill_rotated(*verifier_.content(i), rotated_view(*gemm, i, arrangement), buffers_[i].data());
  else
    fill(*verifier_.content(i), buffers_[i].data(), verifier_.buffers()[i].count);
}

void CpuMemory::prepare(const LaunchSetting& setting) {
  const bool moved = setting.arrangement != std::exchange(arrangement_, setting.arrangement);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!is_poisoned(i)) {
      if (moved || verifier_.buffers()[i].role == Buffer::Role::inout) fill_buffer(i, setting.arrangement);
    } else if (!setting.stale) {
      poison({buffers_[i].data(), buffers_[i].bytes()}, setting.pattern);
    }
  }
}

void CpuMemory::flush() const {
  for (const GuardedBuffer& buffer : buffers_) flush_caches({buffer.data(), buffer.bytes()});
}

double CpuMemory::verify(const LaunchSetting& setting) const {
  for (const GuardedBuffer& buffer : buffers_)
    if (const auto intrusion = buffer.intrusion()) throw SpecFailure(Stage::check, *intrusion);
  double largest = 0;
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    largest = std::max(largest, verifier_.verify(i, buffers_[i].data(), setting.pattern, {setting.arrangement, {}}));
  return largest;
}

}  // namespace tune::worker

#include "cpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend.h"
#include "cache_flush.h"

namespace tune {
namespace {

constexpr const char* kWorkspace = "workspace";

void zero(const GuardedBuffer& buffer) { std::memset(buffer.data(), 0, buffer.bytes()); }

}  // namespace

CpuMemory::CpuMemory(const wire::MeasureRequest& request, const Verifier& verifier)
    : verifier_(verifier), zero_workspace_(request.zero_workspace), zero_c_(request.zero_c) {
  for (const Buffer& buffer : verifier.buffers())
    buffers_.emplace_back(buffer.name, static_cast<std::size_t>(buffer.count * size_of(buffer.type)));
  if (request.workspace_bytes > 0) buffers_.emplace_back(kWorkspace, static_cast<std::size_t>(request.workspace_bytes));
  for (std::size_t i = 0; i < verifier.buffers().size(); ++i)
    if (const auto content = verifier.content(i)) fill(*content, buffers_[i].data(), verifier.buffers()[i].count);
}

void* CpuMemory::address(const std::string& name) const {
  for (const GuardedBuffer& buffer : buffers_)
    if (buffer.name() == name) return buffer.data();
  throw Refusal(Stage::load, fmt::format("launch.args: there is no buffer {}", name));
}

void CpuMemory::reset(Poison pattern) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool keeps = i < verifier_.buffers().size() && verifier_.buffers()[i].role != Buffer::Role::out;
    if (!keeps) poison({buffers_[i].data(), buffers_[i].bytes()}, pattern);
  }
  restore();
}

void CpuMemory::restore() {
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (const Buffer& buffer = verifier_.buffers()[i]; buffer.role == Buffer::Role::inout)
      fill(*verifier_.content(i), buffers_[i].data(), buffer.count);
}

void CpuMemory::zero() {
  for (const GuardedBuffer& buffer : buffers_)
    if ((zero_c_ && buffer.name() == "C") || (zero_workspace_ && buffer.name() == kWorkspace)) tune::zero(buffer);
}

void CpuMemory::flush() const {
  for (const GuardedBuffer& buffer : buffers_) flush_caches({buffer.data(), buffer.bytes()});
}

void CpuMemory::verify_guards() const {
  for (const GuardedBuffer& buffer : buffers_)
    if (const auto intrusion = buffer.intrusion()) throw Refusal(Stage::check, *intrusion);
}

double CpuMemory::verify(Poison pattern) const {
  verify_guards();
  double largest = 0;
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    largest = std::max(largest, verifier_.verify(i, buffers_[i].data(), pattern));
  return largest;
}

}  // namespace tune

#include "platform/process/bounded_log.h"

#include <algorithm>

namespace tune::platform {

void BoundedLog::add(std::string_view text) {
  total_ += text.size();
  const std::size_t to_head = std::min(text.size(), half_ - head_.size());
  head_.append(text.substr(0, to_head));
  tail_.append(text.substr(to_head));
  // Trimmed only at twice its size, so that a flood costs one move per half, not one per chunk.
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string BoundedLog::text() const {
  const std::string_view tail = std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), half_));
  const std::size_t cut = total_ - head_.size() - tail.size();
  if (cut == 0) return head_ + std::string(tail);
  return head_ + "\n... " + std::to_string(cut) + " bytes cut ...\n" + std::string(tail);
}

}  // namespace tune::platform

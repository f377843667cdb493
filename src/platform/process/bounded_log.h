#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tune::platform {

/// Keeps the first and the last half of what is added, up to a limit in bytes, whatever the amount.
class BoundedLog {
 public:
  explicit BoundedLog(std::size_t limit) : half_(limit / 2) {}
  void add(std::string_view text);
  /// With a line in the middle that says how many bytes were cut, if any.
  std::string text() const;

 private:
  std::size_t half_;
  std::size_t total_ = 0;
  std::string head_;
  std::string tail_;
};

}  // namespace tune::platform

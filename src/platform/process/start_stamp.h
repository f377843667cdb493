#pragma once
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <system_error>

namespace tune::platform {

/// When a child process was about to become its program, which it notes itself in memory that it shares with us: what
/// precedes is our work and not the program's.
class StartStamp {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws std::system_error.
  StartStamp() : page_(::mmap(nullptr, sizeof(Clock::rep), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  }
  ~StartStamp() { ::munmap(page_, sizeof(Clock::rep)); }
  StartStamp(const StartStamp&) = delete;
  StartStamp& operator=(const StartStamp&) = delete;

  void set() const { *static_cast<Clock::rep*>(page_) = Clock::now().time_since_epoch().count(); }
  double seconds_until(Clock::time_point end) const {
    const Clock::time_point start{Clock::duration(*static_cast<Clock::rep*>(page_))};
    return std::chrono::duration<double>(end - start).count();
  }

 private:
  void* page_;
};

}  // namespace tune::platform

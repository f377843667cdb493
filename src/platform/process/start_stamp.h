#pragma once
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>

namespace tune::platform {

/// When a child process was about to become its program, and what it had taken until then, which it notes itself in
/// memory that it shares with us: what precedes is our work and not the program's.
class StartStamp {
 public:
  using Clock = std::chrono::steady_clock;
  struct Taken {
    double cpu_seconds = 0, waited_seconds = 0;
  };

  /// Throws std::system_error.
  StartStamp() : page_(::mmap(nullptr, sizeof(Note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot start a process");
    new (page_) Note;
  }
  ~StartStamp() { ::munmap(page_, sizeof(Note)); }
  StartStamp(const StartStamp&) = delete;
  StartStamp& operator=(const StartStamp&) = delete;

  void set(const Taken& taken) const { *static_cast<Note*>(page_) = {taken, Clock::now()}; }
  const Taken& taken() const { return static_cast<const Note*>(page_)->taken; }
  double seconds_until(Clock::time_point end) const {
    return std::chrono::duration<double>(end - static_cast<const Note*>(page_)->at).count();
  }

 private:
  struct Note {
    Taken taken;
    Clock::time_point at;
  };

  void* page_;
};

}  // namespace tune::platform

#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "wire/messages.h"

namespace tune::worker {

/// The worker's end of the protocol. Takes stdin and stdout for itself: from its construction on, what kernels print
/// goes to stderr, the captured log, and what they read is empty. A thread reads from the start and ends all that this
/// process has started, and its group, when the driver is gone. SIGPIPE is ignored. There is one per process, and it
/// lives until _exit.
class Channel {
 public:
  enum class Input {
    none,     ///< stdin is not read (--probe); the end of our parent ends us
    driver,   ///< the end of stdin without a `done` before it means that the driver died
    by_hand,  ///< the end of stdin means nothing (--once)
  };
  explicit Channel(Input input);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The next line of stdin; waits for it. nullopt at its end, which only Input::by_hand reaches.
  std::optional<std::string> next();
  void say(const wire::Event& event);
  /// Says the last event, if any, and ends all that this process has started, and then it with exit code 0, without
  /// destructors and exit handlers: those of a kernel's library could crash or hang.
  [[noreturn]] void leave(const std::optional<wire::Event>& last);

 private:
  void read_lines();
  void take(std::string line);
  void stay_if_ending() const;

  int in_ = -1;
  int out_ = -1;
  std::atomic<bool> leaving_ = false;
  std::atomic<bool> ending_ = false;  ///< and all that this process has started
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool at_end_ = false;
  Input input_;
};

}  // namespace tune::worker

#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// One connection of a FrameHub: what of its frames has come and gone. A frame is a text behind its length, which has
/// four bytes, the highest first.
struct FrameLink {
  using Clock = std::chrono::steady_clock;
  using Frame = std::shared_ptr<const std::string>;

  Descriptor socket;
  std::deque<Frame> out;
  Clock::time_point opened = Clock::now(), heard = opened, spoke = opened;
  bool trusted = false;       ///< its frames may be long and many
  bool closing = false;       ///< once all is sent
  std::uint32_t watched = 0;  ///< what the system tells of: EPOLLIN, EPOLLOUT

  static Frame frame(std::string_view text);
  /// Sends what the system takes now. Returns why the connection is lost, if it is.
  std::optional<std::string> send_some();
  /// Adds what has come to `frames`, without empty ones, and of a stranger nothing behind its first frame. Unless
  /// `all`, it may be a part, so that one peer cannot keep others waiting. Returns why the connection is lost, if it
  /// is.
  std::optional<std::string> receive(std::vector<std::string>& frames, bool all = false);
  /// Whether more of it may be read now.
  bool may_speak() const { return trusted || !has_spoken_; }

 private:
  bool take_frames(std::vector<std::string>& frames);

  std::string in_;           ///< not yet a whole frame; of a stranger, what followed its first one
  bool has_spoken_ = false;  ///< a frame has come
  std::size_t sent_ = 0;     ///< of the first frame
};

}  // namespace tune::platform

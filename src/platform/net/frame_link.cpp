#include "platform/net/frame_link.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tune::platform {
namespace {

constexpr std::size_t kStrangersFrame = 16 * 1024;
constexpr std::size_t kLongestFrame = std::size_t{1} << 30;
constexpr std::size_t kLength = 4;  // bytes before each frame
constexpr int kMostReads = 64;

std::size_t length_at(const std::string& bytes, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + at, kLength);
  return ntohl(length);
}

}  // namespace

FrameLink::Frame FrameLink::frame(std::string_view text) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  std::string bytes(reinterpret_cast<const char*>(&length), kLength);
  bytes += text;
  return std::make_shared<const std::string>(std::move(bytes));
}

std::optional<std::string> FrameLink::send_some() {
  while (!out.empty()) {
    const std::string& frame = *out.front();
    const ssize_t size = ::send(socket.get(), frame.data() + sent_, frame.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return std::strerror(errno);
    spoke = Clock::now();
    sent_ += static_cast<std::size_t>(size);
    if (sent_ < frame.size()) continue;
    out.pop_front();
    sent_ = 0;
  }
  return std::nullopt;
}

std::optional<std::string> FrameLink::receive(std::vector<std::string>& frames, bool all) {
  std::array<char, 64 * 1024> buffer;
  if (!take_frames(frames)) return "it sent what is no frame";  // that came while it was a stranger
  for (int i = 0; (all || i < kMostReads) && may_speak(); ++i) {
    const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return std::nullopt;
    if (size < 0) return std::strerror(errno);
    if (size == 0) return "it closed the connection";
    heard = Clock::now();
    in_.append(buffer.data(), static_cast<std::size_t>(size));
    if (!take_frames(frames)) return "it sent what is no frame";
  }
  return std::nullopt;
}

// Returns false if one is too long.
bool FrameLink::take_frames(std::vector<std::string>& frames) {
  std::size_t at = 0;
  while (may_speak() && in_.size() - at >= kLength) {
    const std::size_t length = length_at(in_, at);
    if (length > (trusted ? kLongestFrame : kStrangersFrame)) return false;
    if (in_.size() - at - kLength < length) break;
    if (length > 0) frames.push_back(in_.substr(at + kLength, length));
    has_spoken_ = has_spoken_ || length > 0;
    at += kLength + length;
  }
  in_.erase(0, at);
  return true;
}

}  // namespace tune::platform

#pragma once
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace tune::platform {

/// What the system knows by a number, such as an open file: closed when this ends. Functions that fail set errno.
class Descriptor {
 public:
  /// `fd`: what a call such as open(2) answered; negative: there is none.
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Leaves it to the caller to close.
  int release() { return std::exchange(fd_, -1); }
  /// False: there was none, or not all is written that was to be.
  bool close() { return fd_ >= 0 && ::close(release()) == 0; }

  /// Writes all of it, in as many steps as it takes.
  bool write(std::string_view bytes) const {
    while (fd_ >= 0 && !bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return fd_ >= 0;
  }

 private:
  int fd_;
};

}  // namespace tune::platform

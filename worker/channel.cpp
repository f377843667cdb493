#include "channel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "platform/process/descendants.h"

namespace tune::worker {
namespace {

constexpr int kHighDescriptor = 100;  // beyond what kernels and their libraries open or close by number

int move_high(int fd) {
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  return high >= 0 ? high : ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

bool is_done(const std::string& line) {
  try {
    return std::holds_alternative<wire::Done>(wire::decode_command(line));
  } catch (const wire::Malformed&) {
    return false;  // the request, or something that `next`'s caller will report
  }
}

[[noreturn]] void end_group() {
  platform::end_all_below_us();
  // Compilers that we started are in our group. Run by hand we may be in a shell's group, which is not ours to end.
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
  ::_exit(1);
}

/// For a process that nobody talks to.
void end_with(pid_t parent) {
  pollfd ended = {static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)), POLLIN, 0};
  while (ended.fd >= 0)
    if (::poll(&ended, 1, -1) > 0) end_group();
}

}  // namespace

Channel::Channel(Input input) : input_(input) {
  ::signal(SIGPIPE, SIG_IGN);
  in_ = move_high(STDIN_FILENO);
  out_ = move_high(STDOUT_FILENO);
  if (const int null = ::open("/dev/null", O_RDONLY); null > STDIN_FILENO) {
    ::dup2(null, STDIN_FILENO);
    ::close(null);
  }
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that the log holds what a kernel said before it crashed
  if (input == Input::none)
    std::thread(end_with, ::getppid()).detach();
  else
    std::thread([this] { read_lines(); }).detach();
  // A kernel may have stopped us, and then we would not see that the driver has ended.
  if (input == Input::driver) ::prctl(PR_SET_PDEATHSIG, SIGCONT);
}

void Channel::read_lines() {
  std::array<char, 65536> buffer;
  std::string line;
  for (;;) {
    const ssize_t size = ::read(in_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    std::string_view text(buffer.data(), static_cast<std::size_t>(size));
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      take(std::exchange(line, {}).append(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    line += text;
  }
  if (input_ == Input::driver && !leaving_) {
    ending_ = true;
    end_group();
  }
  if (!line.empty()) take(std::move(line));
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  changed_.notify_all();
}

void Channel::take(std::string line) {
  if (is_done(line)) leaving_ = true;
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
  changed_.notify_all();
}

std::optional<std::string> Channel::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !lines_.empty() || at_end_; });
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

// What is being ended may look to the other thread like a failure.
void Channel::stay_if_ending() const {
  while (ending_) ::pause();
}

void Channel::say(const wire::Event& event) {
  stay_if_ending();
  const std::string line = wire::encode(event) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(out_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE && input_ == Input::driver) end_group();  // the driver is gone
    if (written < 0) ::_exit(1);                                                // a kernel has closed all descriptors
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Channel::leave(const std::optional<wire::Event>& last) {
  leaving_ = true;
  stay_if_ending();
  if (last) say(*last);
  std::fflush(nullptr);
  platform::end_all_below_us();
  ::_exit(0);
}

}  // namespace tune::worker

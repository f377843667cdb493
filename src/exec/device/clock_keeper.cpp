#include "exec/device/clock_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "model/values/error.h"
#include "wire/messages.h"

extern char** environ;

namespace tune::exec {
namespace {

using KeeperTime = std::chrono::steady_clock;

constexpr auto kKeeperPatience = std::chrono::seconds(20);  // a driver that wakes a card takes some seconds
constexpr auto kKeeperLook = std::chrono::milliseconds(5);

/// Both ends close when a program is started, so that no worker keeps the input of the process open.
std::array<platform::Descriptor, 2> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ExitCode::environment, std::string("cannot make a pipe: ") + std::strerror(errno));
  return {platform::Descriptor(ends[0]), platform::Descriptor(ends[1])};
}

}  // namespace

ClockKeeper::ClockKeeper(const std::vector<std::string>& words) {
  auto [input, to] = make_pipe();
  auto [from, output] = make_pipe();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  const int failed = ::posix_spawn(&process_, argv.front(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw Error(ExitCode::environment, "cannot start " + words.front() + ", which sets the clocks of a device: " +
                                           std::strerror(failed) + "; build or install it with tune");
  child_ = platform::StartedChild(process_);
  to_ = std::move(to);
  from_ = std::move(from);
  first_ = answer();
}

// It answers by its end, which takes as long as the driver needs.
ClockKeeper::~ClockKeeper() {
  to_.close();
  const auto end = KeeperTime::now() + kKeeperPatience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0 && KeeperTime::now() < end)
    ::poll(nullptr, 0, static_cast<int>(kKeeperLook.count()));
}

std::optional<wire::Refused> ClockKeeper::set(const DeviceSettings& settings) {
  if (settings == now_) return std::nullopt;
  if (!to_.write(wire::encode(settings) + "\n")) return give_up("has ended");
  const wire::ClockAnswer said = answer();
  if (const auto* refused = std::get_if<wire::Refused>(&said)) return *refused;
  now_ = settings;
  return std::nullopt;
}

// What it may still say would be taken for the answer to something else. It undoes all now.
wire::Refused ClockKeeper::give_up(const std::string& why) {
  to_.close();
  return {wire::Refused::Why::other, "tune-device-clocks " + why};
}

wire::ClockAnswer ClockKeeper::answer() try {
  const auto end = KeeperTime::now() + kKeeperPatience;
  for (;;) {
    if (const auto line = unread_.find('\n'); line != std::string::npos) {
      const std::string text = unread_.substr(0, line);
      unread_.erase(0, line + 1);
      return wire::decode_clock_answer(text);
    }
    pollfd waits{from_.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - KeeperTime::now()).count();
    if (left <= 0) return give_up("does not answer");
    if (::poll(&waits, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 4096> room{};
    const ssize_t size = ::read(from_.get(), room.data(), room.size());
    if (size == 0) return give_up("has ended");
    if (size > 0) unread_.append(room.data(), static_cast<std::size_t>(size));
  }
} catch (const wire::Malformed& error) {
  return give_up(std::string("answers wrongly: ") + error.what());
}

}  // namespace tune::exec

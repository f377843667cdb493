#pragma once
#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/child.hpp>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "platform/process/bounded_log.h"
#include "platform/process/descendants.h"
#include "platform/process/process.h"
#include "platform/process/start_stamp.h"

namespace tune::platform {

/// One process that was started, until it has ended and its output is read: how it is started, what it wrote, how it
/// ended. Processes (process.cpp) decides when which of these happens, and owns it.
struct Child {
  Processes::Id id;
  std::string program;
  boost::process::child process;
  StartedChild started;
  bool own_group, awaits_all;
  boost::asio::posix::stream_descriptor in, out, err;
  boost::asio::steady_timer deadline, drain;
  std::array<char, 16384> out_buffer, err_buffer;  // larger ones would be mapped and faulted in for every child
  std::string line;
  BoundedLog captured;
  Exit exit;
  StartStamp begun;
  ResourceUse use;
  bool killed = false;
  bool reaped = false;
  bool swept = false;  ///< and nothing that it started is left
  bool ended = false;
  int open_pipes = 2;

  Child(boost::asio::io_context& io, Processes::Id number, const Command& command)
      : id(number),
        program(command.argv.front()),
        own_group(command.own_group),
        awaits_all(command.awaits_all),
        in(io),
        out(io),
        err(io),
        deadline(io),
        drain(io),
        captured(command.capture_limit) {}

  /// Throws as Processes::start.
  void start(const Command& command);
  /// Takes what it wrote to stdout; the lines that are complete with it.
  std::vector<std::string> take_lines(std::string_view text);
  /// Reaps it, which has ended, and keeps how it ended and what it took; `our_delay`: how many seconds we waited for a
  /// core when we were to see that.
  void take_status(double our_delay);

  /// It is in no group of its own if it has joined another one. A child that shares our group is killed alone.
  void send_kill() const {
    const pid_t number = process.id();
    if (number <= 1) return;  // to kill(2) 0 and -1 are everybody
    if (own_group) ::kill(-number, SIGKILL);
    ::kill(number, SIGKILL);
  }
};

/// Throws Error(environment): the system cannot start this program.
[[noreturn]] void cannot_start(const std::string& program, const std::string& why);

}  // namespace tune::platform

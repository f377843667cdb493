#include "platform/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/start_dir.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>

#include "platform/files/descriptor.h"
#include "platform/process/run_delay.h"
#include "platform/process/signal_bounds.h"

namespace tune::platform {
namespace {

namespace bp = boost::process;

constexpr std::size_t kLineLimit = 1 << 20;  // of protocol output without a newline

[[noreturn]] void no_program(const std::string& program, const std::string& why) {
  throw NoProgram(ExitCode::environment, "cannot start " + program + ": " + why);
}

[[noreturn]] void too_long(const std::string& program, const std::vector<std::string>& argv) {
  const auto longest = std::ranges::max_element(argv, {}, &std::string::size);
  throw TooLong(
      ExitCode::environment,
      fmt::format("cannot start {}: its command line and environment are too long for the system (128 KiB for "
                  "one word, `getconf ARG_MAX` for all); the longest word has {} bytes: pass it in a file",
                  program, longest->size()));
}

std::string on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate)) return candidate;
  }
  no_program(name, "not found on PATH");
}

/// Its ends are inherited by no other child.
struct Pipe {
  Descriptor read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot_start("a process", why_not_started(errno));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_seconds_of_this_process() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What a child that must not signal others may still signal: its own. Of the others the system may only be able to
/// spare those that we name: us, and the driver that started us.
std::optional<SignalBounds> bounds_of(const Command& command) {
  if (command.signals_others) return std::nullopt;
  return SignalBounds::sparing({::getpid(), ::getppid()}, {::getpgrp(), ::getpgid(::getppid())});
}

/// Between fork and exec: a session of its own, default signals, the pipes as 0, 1 and 2, and limits. No parent-death
/// signal: it would kill a worker alone, and the compilers it started would live on; a worker watches its stdin
/// instead.
struct ChildSetup : bp::extend::handler {
  int in, out, err;
  bool own_group;
  std::int64_t memory_bytes;
  const std::optional<SignalBounds>& bounds;
  const StartStamp& begun;
  ChildSetup(int in_fd, int out_fd, int err_fd, bool group, std::int64_t memory,
             const std::optional<SignalBounds>& signal_bounds, const StartStamp& stamp)
      : in(in_fd),
        out(out_fd),
        err(err_fd),
        own_group(group),
        memory_bytes(memory),
        bounds(signal_bounds),
        begun(stamp) {}

  template <typename Executor>
  void on_exec_setup(Executor&) const {
    if (own_group) ::setsid();  // and so without our terminal, which it could take from us
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) ::signal(ignored, SIG_DFL);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    rlimit data{};
    if (memory_bytes > 0 && ::getrlimit(RLIMIT_DATA, &data) == 0) {
      data.rlim_cur = std::min(data.rlim_cur, static_cast<rlim_t>(memory_bytes));
      ::setrlimit(RLIMIT_DATA, &data);
    }
    if (bounds) bounds->enter();
    begun.set({cpu_seconds_of_this_process(), delay_of_this_thread()});
  }
};

}  // namespace

void cannot_start(const std::string& program, const std::string& why) {
  throw Error(ExitCode::environment, "cannot start " + program + ": " + why);
}

void Child::start(const Command& command) {
  std::vector<std::string> argv = command.argv;
  argv.front() = find_program(argv.front());
  bp::environment environment = boost::this_process::environment();
  // Not environment[name] = value: what looks for the name there reads beyond the ends of shorter entries.
  for (const auto& [name, value] : command.environment) environment.set(name, value);
  Pipe to_in, from_out, from_err;
  if (command.discards_output) from_out.write = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  { const Pipe spare; }  // Boost.Process opens one of its own, and tells nobody if it cannot
  std::error_code error;
  const auto bounds = bounds_of(command);
  ChildSetup setup(to_in.read.get(), from_out.write.get(), from_err.write.get(), own_group, command.memory_bytes,
                   bounds, begun);
  const std::string folder = command.directory.empty() ? "." : command.directory.string();
  process = bp::child(bp::args(argv), bp::env(environment), bp::start_dir(folder), setup, error);
  if (error.value() == E2BIG) too_long(program, argv);
  if (error) cannot_start(program, why_not_started(error.value()));
  // That pipe again: another thread has taken a descriptor since.
  if (process.id() <= 1) cannot_start(program, why_not_started(EMFILE));
  started = StartedChild(process.id());
  in.assign(to_in.write.release());
  out.assign(from_out.read.release());
  err.assign(from_err.read.release());
  ::fcntl(in.native_handle(), F_SETFL, O_NONBLOCK);
}

std::vector<std::string> Child::take_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    if (line.size() < kLineLimit) line.append(text.substr(0, newline));
    if (newline == std::string_view::npos) break;
    lines.push_back(std::exchange(line, {}));
    text.remove_prefix(newline + 1);
  }
  return lines;
}

void Child::take_status(double our_delay) {
  int status = 0;
  rusage taken{};
  const RunDelay first(fmt::format("/proc/{}/schedstat", process.id()));
  const double its_delay = first.seconds(), ran = first.ran_seconds();
  ::wait4(process.id(), &status, 0, &taken);
  process.detach();
  use.user_seconds = seconds_of(taken.ru_utime);
  use.system_seconds = seconds_of(taken.ru_stime);
  use.cpu_seconds = use.user_seconds + use.system_seconds - begun.taken().cpu_seconds;
  use.first_cpu_seconds = ran - begun.taken().cpu_seconds;
  use.waited_seconds = its_delay - begun.taken().waited_seconds + our_delay;
  use.peak_bytes = taken.ru_maxrss * 1024;
  exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Boost.Process crashes the parent when given an empty path, so every path is settled here.
std::string find_program(const std::string& name) {
  if (name.empty()) no_program("a program", "its name is empty");
  if (name.find('/') == std::string::npos) return on_path(name);
  if (::access(name.c_str(), F_OK) != 0) no_program(name, "no such file");
  if (std::filesystem::is_directory(name)) no_program(name, "it is a folder");
  if (::access(name.c_str(), X_OK) != 0) no_program(name, "not executable");
  return name;
}

std::string why_not_started(int error) {
  const auto limit_of = [](auto resource) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? "no limit" : std::to_string(limit.rlim_cur);
  };
  if (error == EMFILE)
    return fmt::format("too many open files: the limit (RLIMIT_NOFILE) is {}; raise it, as by `ulimit -n 4096`",
                       limit_of(RLIMIT_NOFILE));
  if (error == EAGAIN)
    return fmt::format(
        "too many processes: the user's limit (RLIMIT_NPROC) is {}; raise it (`ulimit -u`) or that of the container, "
        "or end other processes",
        limit_of(RLIMIT_NPROC));
  return std::strerror(error);
}

}  // namespace tune::platform

#include "kernel_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "backend.h"
#include "kernel_runner.h"
#include "measure.h"

namespace tune {
namespace {

constexpr int kTrials = 9;

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Only the room and stderr are left open.
pid_t start_process(int room) {
  std::array<char, 4096> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) std::strcpy(program.data(), "tune-worker");
  std::string mode = kRunKernel;
  char* const arguments[] = {program.data(), mode.data(), nullptr};
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions.get(), room, kRoomDescriptor);
  ::posix_spawn_file_actions_addclosefrom_np(actions.get(), kRoomDescriptor + 1);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, "/proc/self/exe", actions.get(), nullptr, arguments, environ);
  if (error != 0) throw Refusal(Stage::load, fmt::format("cannot start the kernel's process: {}", std::strerror(error)));
  return process;
}

[[noreturn]] void end_like(const siginfo_t& end) {
  if (end.si_code == CLD_EXITED) ::_exit(end.si_status);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);  // the kernel's process has left its own, where cores are wanted
  std::signal(end.si_status, SIG_DFL);
  std::raise(end.si_status);
  ::_exit(1);
}

bool is_end(const siginfo_t& info) {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

}  // namespace

KernelProcess::KernelProcess(KernelRoom& room, const std::filesystem::path& hidden) : room_(room) {
  ::prctl(PR_SET_DUMPABLE, 0);  // our memory and descriptors are not for other processes of the same user
  room_.set_text(hidden.string());
  room_.notes().turns = 0;
  process_ = start_process(room.file());
  await_stop(1);
}

KernelProcess::~KernelProcess() {
  ::kill(process_, SIGKILL);
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED);
}

/// Waits until it has carried out so many commands. Where a kernel has stopped itself, that is for ever.
void KernelProcess::await_stop(std::uint32_t turns) const {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(process_), &info, WSTOPPED | WEXITED) != 0) continue;
    if (is_end(info)) end_like(info);
    if (room_.notes().turns == turns) return;
  }
}

/// Returns the seconds that it took by our clock.
double KernelProcess::carry_out(KernelNotes::Command command) {
  volatile KernelNotes& notes = room_.notes();
  notes.command = command;
  notes.outcome = KernelNotes::Outcome::done;
  const std::uint32_t turns = notes.turns + 1;
  const double start = seconds_now();
  ::kill(process_, SIGCONT);
  await_stop(turns);
  return seconds_now() - start;
}

std::string KernelProcess::load() {
  carry_out(KernelNotes::Command::load);
  const KernelNotes::Outcome outcome = room_.notes().outcome;
  if (outcome == KernelNotes::Outcome::refused) throw Refusal(Stage::load, room_.text());
  if (outcome == KernelNotes::Outcome::threw) throw std::runtime_error(room_.text());
  return room_.text();
}

TimedLaunch KernelProcess::launch(std::uint32_t addresses) {
  volatile KernelNotes& notes = room_.notes();
  notes.addresses = addresses;
  notes.start = 0;
  notes.end = 0;
  const double seen = carry_out(KernelNotes::Command::launch);
  if (notes.outcome == KernelNotes::Outcome::threw) throw std::runtime_error(room_.text());
  const double claimed = notes.end - notes.start;
  // A clock that does not tick between two readings must not make a launch free; a NaN is no time.
  return {claimed > 1e-9 ? std::min(claimed, seen) : 1e-9, seen};
}

double KernelProcess::gap() {
  std::array<double, kTrials> seconds;
  for (double& trial : seconds) trial = carry_out(KernelNotes::Command::nothing);
  std::ranges::sort(seconds);
  return seconds[kTrials * 3 / 4];
}

int KernelProcess::threads() const {
  struct stat tasks {};
  if (::stat(fmt::format("/proc/{}/task", process_).c_str(), &tasks) != 0) return 1;
  return static_cast<int>(std::min<std::uint64_t>(tasks.st_nlink, 2 + std::thread::hardware_concurrency())) - 2;
}

void KernelProcess::require_stopped() const {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(process_), &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG);
  if (info.si_pid == 0) return;
  if (is_end(info)) end_like(info);
  throw Refusal(Stage::check, "the kernel's process went on while its result was compared");
}

}  // namespace tune

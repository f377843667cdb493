#include "cpu/sandbox/kernel_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backend.h"
#include "cpu/sandbox/kernel_calls.h"
#include "cpu/sandbox/kernel_runner.h"
#include "cpu/sandbox/own_cores.h"
#include "measuring/measure.h"
#include "platform/process/process.h"
#include "platform/process/taken_cores.h"

namespace tune::worker {
namespace {

constexpr int kTrials = 5;
constexpr auto kPause = std::chrono::milliseconds(1);  // so that cores fall asleep, as they do in a long launch
constexpr double kLeastAllowance = 100e-6;             // seconds
constexpr double kToStopThread = 8e-6;                 // seconds
constexpr std::int64_t kUsualThreads = 64;             // on any machine; more are usual where there are more cores
constexpr time_t kMostToStop = 5;                      // seconds
constexpr double kBlindAllowance = 20e-3;              // where the system does not say who waited for a core
constexpr long kPatienceNanoseconds = 10'000'000;      // after which we look whether the process still is there

/// Interrupts what this thread waits for.
class Alarm {
 public:
  Alarm() {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &nothing, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);
  }
  /// 0: not at all.
  void set(time_t seconds) const {
    const itimerspec after = {{0, 0}, {seconds, 0}};
    ::timer_settime(timer_, 0, &after, nullptr);
  }

 private:
  timer_t timer_{};
};

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

/// Signals that we ignore have their default effect in a process that is started with these.
class DefaultSignals {
 public:
  DefaultSignals() {
    sigset_t ignored;
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGPIPE);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~DefaultSignals() { ::posix_spawnattr_destroy(&attributes_); }
  DefaultSignals(const DefaultSignals&) = delete;
  DefaultSignals& operator=(const DefaultSignals&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Only the shared memory and stderr are left open.
pid_t start_process(int shared) {
  std::array<char, 4096> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) std::strcpy(program.data(), "tune-worker");
  std::string mode = kRunKernel;
  char* const arguments[] = {program.data(), mode.data(), nullptr};
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions.get(), shared, kSharedDescriptor);
  ::posix_spawn_file_actions_addclosefrom_np(actions.get(), kSharedDescriptor + 1);
  const DefaultSignals signals;
  pid_t process = 0;
  const int error = ::posix_spawn(&process, "/proc/self/exe", actions.get(), signals.get(), arguments, environ);
  if (error != 0)
    throw SpecFailure(Stage::load, "cannot start the kernel's process: " + platform::why_not_started(error));
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

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool is_end(const siginfo_t& info) {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

}  // namespace

KernelProcess::KernelProcess(KernelSharedMemory& shared) : shared_(shared) {
  ::prctl(PR_SET_DUMPABLE, 0);  // our memory and descriptors are not for other processes of the same user
  process_ = start_process(shared.file());
  ::clock_getcpuclockid(process_, &its_time_);
  its_delay_ = platform::RunDelay(fmt::format("/proc/{}/schedstat", process_));
  our_delay_ = platform::RunDelay("/proc/thread-self/schedstat");
  thread_delays_ = platform::ThreadDelays(process_);
  await_turn(++turns_);
  stop();
}

KernelProcess::~KernelProcess() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED);
}

/// Waits until the process has carried out this many commands: for ever if a kernel has stopped its process.
void KernelProcess::await_turn(std::uint32_t turns) {
  volatile KernelNotes& notes = shared_.notes();
  for (std::uint32_t now = notes.turns; now != turns; now = notes.turns) {
    const timespec patience{0, kPatienceNanoseconds};
    ::syscall(SYS_futex, &notes.turns, FUTEX_WAIT, now, &patience, nullptr, 0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG);
    if (info.si_pid != 0) end_with(info);
  }
}

void KernelProcess::end_with(const siginfo_t& end) {
  process_ = 0;
  const FaultNote fault = const_cast<const KernelNotes&>(shared_.notes()).fault;
  const int signal = end.si_code == CLD_EXITED ? 0 : end.si_status;
  if (signal == SIGSYS) throw SpecFailure(stage_, kWorkedOutsideThreads);
  const std::string text = signal == SIGSEGV ? to_text(fault, shared_.extents()) : "";
  if (!text.empty()) throw SpecFailure(stage_, text);
  end_like(end);
}

// A SIGCONT that comes before all threads have stopped takes the stop back, and then nothing tells of it: an alarm ends
// the wait.
void KernelProcess::stop() {
  static const Alarm alarm;
  ::kill(process_, SIGSTOP);
  alarm.set(kMostToStop);
  siginfo_t info{};
  const int waited = ::waitid(P_PID, static_cast<id_t>(process_), &info, WSTOPPED | WEXITED);
  alarm.set(0);
  if (waited != 0)
    throw SpecFailure(Stage::check, "the kernel's process cannot be stopped while its result is compared");
  if (is_end(info)) end_with(info);
  if (info.si_code == CLD_TRAPPED)
    throw SpecFailure(
        stage_, "the kernel's process lets itself be traced (ptrace), so that it cannot be stopped and continued");
}

/// Returns what it took by our clock, and after that in its threads until none of them runs any more: one that is in
/// the system stops only when that has done what it was asked for.
TimedLaunch KernelProcess::carry_out(KernelNotes::Command command) {
  if (process_ == 0) throw SpecFailure(stage_, "the kernel's process has ended");  // to kill(2) 0 is our own group
  require_stopped();
  volatile KernelNotes& notes = shared_.notes();
  notes.command = command;
  notes.outcome = KernelNotes::Outcome::done;
  std::optional<OwnCores> cores(std::in_place, thread_delays_.threads());
  const double its_before = its_delay_.seconds(), our_before = our_delay_.seconds(), start = seconds_now();
  const double all_before = seconds_of(its_time_), first_before = its_delay_.ran_seconds();
  ++notes.orders;
  ::kill(process_, SIGCONT);
  cores.reset();
  await_turn(++turns_);
  const double end = seconds_now(), computed = seconds_of(its_time_);
  stop();
  // What a thread computes is counted with a delay, of a tick at most; it computes no longer than the stop takes.
  const double afterwards = std::min(seconds_of(its_time_) - computed, seconds_now() - end);
  const double waited = its_delay_.seconds() - its_before + our_delay_.seconds() - our_before;
  CoreUse use;
  use.computed = seconds_of(its_time_) - all_before;
  use.first_computed = its_delay_.ran_seconds() - first_before;
  use.others_waited = thread_delays_.others_since_last();
  use.threads = thread_delays_.threads().size();
  use.others = platform::others_running();
  return {0, end - start + afterwards, waited, use};
}

std::string KernelProcess::load() {
  shared_.notes().fouls_heap = 1;
  carry_out(KernelNotes::Command::load);
  stage_ = Stage::check;
  if (shared_.notes().outcome == KernelNotes::Outcome::refused) throw SpecFailure(Stage::load, shared_.text());
  throw_what_it_threw();
  return shared_.text();
}

void KernelProcess::throw_what_it_threw() const {
  const KernelNotes::Outcome outcome = shared_.notes().outcome;
  const bool limited_by_user = shared_.request().measure.memory_bytes > 0;
  if (outcome == KernelNotes::Outcome::out_of_memory) throw OutOfMemory(shared_.text(), !limited_by_user);
  if (outcome == KernelNotes::Outcome::threw) throw std::runtime_error(shared_.text());
}

/// What the process says by its own clock.
double KernelProcess::claimed() const {
  // A clock that does not tick between two readings must not make a launch free.
  const std::uint64_t start = shared_.notes().start, end = shared_.notes().end;
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(1, static_cast<std::int64_t>(end - start)));
}

TimedLaunch KernelProcess::launch(std::uint32_t addresses, bool foul_heap) {
  volatile KernelNotes& notes = shared_.notes();
  notes.addresses = addresses;
  notes.fouls_heap = foul_heap;
  notes.start = 0;
  notes.end = 0;
  TimedLaunch launch = carry_out(KernelNotes::Command::launch);
  throw_what_it_threw();
  launch.claimed = claimed();
  launch.use.seconds = launch.claimed;
  launch.use.first_waited = 1e-9 * static_cast<double>(shared_.notes().waited);
  return launch;
}

TimedLaunch KernelProcess::compute(double seconds) {
  shared_.notes().nanoseconds = static_cast<std::uint64_t>(1e9 * seconds);
  TimedLaunch launch = carry_out(KernelNotes::Command::compute);
  launch.claimed = claimed();
  return launch;
}

void KernelProcess::launch_again(std::int64_t count) {
  shared_.notes().launches = static_cast<std::uint32_t>(count);
  carry_out(KernelNotes::Command::launch);
  shared_.notes().launches = 1;
  throw_what_it_threw();
}

void KernelProcess::touch() { carry_out(KernelNotes::Command::touch); }

void KernelProcess::rest() { carry_out(KernelNotes::Command::rest); }

bool KernelProcess::changed_arithmetic() const { return shared_.notes().changed_arithmetic != 0; }

double KernelProcess::allowance() {
  double most = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::this_thread::sleep_for(kPause);
    const TimedLaunch empty = carry_out(KernelNotes::Command::nothing);
    most = std::max(most, empty.seen - empty.waited);
  }
  return allowance(most);
}

double KernelProcess::allowance(double difference) const {
  const double blind = its_delay_.is_known() && our_delay_.is_known() ? 0 : kBlindAllowance;
  return kLeastAllowance + blind + 2 * difference;
}

double KernelProcess::allowance_for_threads() const {
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", process_));
  const std::int64_t most = std::max<std::int64_t>(kUsualThreads, std::thread::hardware_concurrency());
  return kToStopThread * static_cast<double>(std::min(std::distance(begin(threads), end(threads)), most));
}

void KernelProcess::require_stopped() {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(process_), &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG);
  if (info.si_pid == 0) return;
  if (is_end(info)) end_with(info);
  throw SpecFailure(Stage::check, "the kernel's process went on between two launches");
}

Disturbance disturbance_without_kernel(std::size_t trials, double seconds, const std::function<void()>& work) {
  KernelSharedMemory shared{wire::MeasureRequest()};
  KernelProcess process(shared);
  double longest_wait = 0;
  std::vector<double> others;  // seconds lost for other reasons
  for (std::size_t i = 0; i < trials; ++i) {
    work();
    const TimedLaunch launch = process.compute(seconds);
    const double lost = std::max(0.0, launch.seen - launch.claimed), wait = std::min(launch.waited, lost);
    longest_wait = std::max(longest_wait, wait);
    others.push_back(lost - wait);
  }
  // The least disturbed launches of a kernel are judged, so that what happens now and then does not excuse it.
  const auto median = others.begin() + static_cast<std::ptrdiff_t>(trials / 2);
  std::ranges::nth_element(others, median);
  return {longest_wait, process.allowance(*median)};
}

}  // namespace tune::worker

#include "base/signal_bounds.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tune::base {
namespace {

/// As linux/landlock.h has it since 6.12; the headers that we are built with may be older than the system we run on.
struct ScopedRules {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};
constexpr std::uint64_t kScopeSignal = 1 << 1;

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // there is no filter: the calls' numbers are not known
#endif
constexpr std::uint32_t kForeignCalls = 0x40000000;  // of x32, which takes the same architecture's name

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kSignalCalls[] = {__NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo,
                                          __NR_rt_tgsigqueueinfo};
constexpr std::uint32_t kSendByDescriptor = 424;  // pidfd_send_signal, on every architecture

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr std::uint32_t kTheArchitecture = offsetof(seccomp_data, arch);
constexpr std::uint32_t kFirst = offsetof(seccomp_data, args);  // the lower half, on the two architectures
constexpr std::uint32_t kSecond = kFirst + sizeof(std::uint64_t);

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter answer(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }
sock_filter if_equal(std::uint32_t value, std::size_t otherwise_skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(otherwise_skip));
}

/// Adds the rules of one system call: it gets the answer `listed` if its argument at `offset` is among the values. If
/// it is not, it gets the answer `other`, or what follows decides.
void add_call(std::vector<sock_filter>& filter, std::uint32_t call, std::uint32_t offset,
              const std::vector<std::uint32_t>& values, std::uint32_t listed, std::optional<std::uint32_t> other) {
  filter.push_back(if_equal(call, 2 * values.size() + 2));
  filter.push_back(load(offset));
  for (const std::uint32_t value : values) {
    filter.push_back(if_equal(value, 1));
    filter.push_back(answer(listed));
  }
  filter.push_back(other ? answer(*other) : load(kNumber));
}

/// The beginning of a filter, which returns `foreign` for system calls of the other ABIs of this CPU.
std::vector<sock_filter> begin_filter(std::uint32_t foreign) {
  return {load(kTheArchitecture), if_equal(kArchitecture, 2), load(kNumber),
          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kForeignCalls, 0, 1), answer(foreign)};
}

/// `foreign` is returned for system calls of the other ABIs of this CPU, and for the calls that direct a file's SIGIO
/// to a process. Nobody can join the closed groups.
std::vector<sock_filter> make_filter(const std::vector<std::uint32_t>& targets, std::uint32_t listed,
                                     std::uint32_t other, std::uint32_t foreign,
                                     const std::vector<std::uint32_t>& closed_groups) {
  if (kArchitecture == 0) return {};
  std::vector<sock_filter> filter = begin_filter(foreign);
  for (const std::uint32_t call : kSignalCalls) add_call(filter, call, kFirst, targets, listed, other);
  add_call(filter, __NR_fcntl, kSecond, {F_SETOWN, F_SETOWN_EX}, foreign, kAllow);
  add_call(filter, __NR_setpgid, kSecond, closed_groups, kDeny, kAllow);
  add_call(filter, kSendByDescriptor, kFirst, {}, kDeny, kDeny);
  filter.push_back(answer(kAllow));
  return filter;
}

/// Takes the step, if need be after promising to gain no privileges, which an administrator need not do.
bool after_promise(bool (*step)(const void*), const void* argument) {
  return step(argument) || (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && step(argument));
}

/// A filter for the calls that change the limits and the priority of a process, with answers as in `make_filter`, and
/// for the one that moves it to other cores: that takes threads, whose numbers nobody knows, except for `fixed` ones.
std::vector<sock_filter> make_control_filter(const std::vector<std::uint32_t>& targets, std::uint32_t listed,
                                             std::uint32_t other, const std::vector<std::uint32_t>& fixed) {
  if (kArchitecture == 0) return {};
  std::vector<sock_filter> filter = begin_filter(other);
  for (const std::uint32_t call : {__NR_prlimit64, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr})
    add_call(filter, call, kFirst, targets, listed, other);
  add_call(filter, __NR_setpriority, kFirst, {PRIO_PGRP, PRIO_USER}, kDeny, std::nullopt);
  add_call(filter, __NR_setpriority, kSecond, targets, listed, other);
  add_call(filter, __NR_sched_setaffinity, kFirst, fixed, kDeny, kAllow);
  filter.push_back(answer(kAllow));
  return filter;
}

std::vector<std::uint32_t> numbers_of(const std::vector<pid_t>& processes) {
  return {processes.begin(), processes.end()};
}

bool enter_scope() {
  ScopedRules rules;
  rules.scoped = kScopeSignal;
  const int made = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0));
  if (made < 0) return false;
  const bool entered = after_promise(
      [](const void* ruleset) {
        return ::syscall(SYS_landlock_restrict_self, *static_cast<const int*>(ruleset), 0) == 0;
      },
      &made);
  ::close(made);
  return entered;
}

// Linux before 5.16 would otherwise slow down everything that runs under a filter, and with it what is measured.
bool enter_filter(const std::vector<sock_filter>& filter) {
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  return !filter.empty() &&
         after_promise(
             [](const void* what) {
               return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, what) == 0;
             },
             &program);
}

}  // namespace

SignalBounds SignalBounds::of_this_process(const std::vector<pid_t>& spared) {
  const auto own = static_cast<std::uint32_t>(::getpid());
  return {make_filter({own}, kAllow, kDeny, kDeny, {}),
          make_control_filter({0, own}, kAllow, kDeny, numbers_of(spared))};
}

SignalBounds SignalBounds::sparing(const std::vector<pid_t>& processes, const std::vector<pid_t>& groups) {
  // To kill(2), 0 means the caller's own group, which is one of `groups` until the caller leaves it.
  std::vector<std::uint32_t> targets = {static_cast<std::uint32_t>(-1), 0}, closed;
  for (const pid_t process : processes) targets.push_back(static_cast<std::uint32_t>(process));
  for (const pid_t group : groups) {
    targets.push_back(static_cast<std::uint32_t>(-group));
    closed.push_back(static_cast<std::uint32_t>(group));
  }
  const std::vector<std::uint32_t> spared = numbers_of(processes);
  return {make_filter(targets, kDeny, kAllow, kAllow, closed), make_control_filter(spared, kDeny, kAllow, spared)};
}

void SignalBounds::enter() const {
  if (!enter_scope()) enter_filter(signals_);
  enter_filter(control_);
}

}  // namespace tune::base

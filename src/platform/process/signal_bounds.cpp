#include "platform/process/signal_bounds.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace tune::platform {
namespace {

/// As linux/landlock.h has it since 6.12; the headers that we are built with may be older than the system we run on.
struct ScopedRules {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};
constexpr std::uint64_t kScopeSignal = 1 << 1;

constexpr std::uint32_t kAllow = CallFilter::kAllow, kDeny = CallFilter::kDeny;
constexpr std::uint32_t kSignalCalls[] = {__NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo,
                                          __NR_rt_tgsigqueueinfo};
constexpr std::uint32_t kIoGroup = 2, kIoUser = 3;  // of linux/ioprio.h
constexpr std::uint32_t kSendByDescriptor = 424;    // pidfd_send_signal, on every architecture

/// `foreign` is returned for system calls of the other ABIs of this CPU, and for the calls that direct a file's SIGIO
/// to a process. Nobody can join the closed groups.
CallFilter make_filter(const std::vector<std::uint32_t>& targets, std::uint32_t listed, std::uint32_t other,
                       std::uint32_t foreign, const std::vector<std::uint32_t>& closed_groups) {
  CallFilter filter(foreign);
  for (const std::uint32_t call : kSignalCalls) filter.add(call, 0, targets, listed, other);
  filter.add(__NR_fcntl, 1, {F_SETOWN, F_SETOWN_EX}, foreign, kAllow);
  filter.add(__NR_setpgid, 1, closed_groups, kDeny, kAllow);
  filter.add(kSendByDescriptor, kDeny);
  return filter;
}

/// A filter for the calls that change the limits and the priorities of a process, with answers as in `make_filter`, and
/// for the one that moves it to other cores: that takes threads, whose numbers nobody knows, except for `fixed` ones.
CallFilter make_control_filter(const std::vector<std::uint32_t>& targets, std::uint32_t listed, std::uint32_t other,
                               const std::vector<std::uint32_t>& fixed) {
  CallFilter filter(other);
  for (const std::uint32_t call : {__NR_prlimit64, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr})
    filter.add(call, 0, targets, listed, other);
  filter.add(__NR_setpriority, 0, {PRIO_PGRP, PRIO_USER}, kDeny, std::nullopt);
  filter.add(__NR_setpriority, 1, targets, listed, other);
  filter.add(__NR_ioprio_set, 0, {kIoGroup, kIoUser}, kDeny, std::nullopt);
  filter.add(__NR_ioprio_set, 1, targets, listed, other);
  filter.add(__NR_sched_setaffinity, 0, fixed, kDeny, kAllow);
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
  if (!enter_scope()) signals_.enter();
  control_.enter();
}

}  // namespace tune::platform

#include "platform/process/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace tune::platform {
namespace {

static_assert(CallFilter::kAllow == SECCOMP_RET_ALLOW && CallFilter::kDeny == (SECCOMP_RET_ERRNO | EPERM) &&
              CallFilter::kNoSuchCall == (SECCOMP_RET_ERRNO | ENOSYS) && CallFilter::kKill == SECCOMP_RET_KILL_PROCESS);

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif
constexpr std::uint32_t kForeignCalls = 0x40000000;  // of x32, which takes the same architecture's name

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr std::uint32_t kTheArchitecture = offsetof(seccomp_data, arch);

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
// The lower half comes first on the two architectures.
sock_filter load_argument(int argument) {
  return load(static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                         sizeof(std::uint64_t) * static_cast<std::size_t>(argument)));
}
sock_filter answer_with(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }
sock_filter if_equal(std::uint32_t value, std::size_t otherwise_skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(otherwise_skip));
}

}  // namespace

CallFilter::CallFilter(std::uint32_t foreign) {
  if (kArchitecture == 0) return;
  program_ = {load(kTheArchitecture), if_equal(kArchitecture, 2),
              load(kNumber),          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kForeignCalls, 0, 1),
              answer_with(foreign),   answer_with(kAllow)};
}

void CallFilter::append(const std::vector<sock_filter>& rule) {
  if (!program_.empty()) program_.insert(program_.end() - 1, rule.begin(), rule.end());
}

void CallFilter::add(std::uint32_t call, std::uint32_t answer) { add(call, 0, {}, answer, answer); }

void CallFilter::add(std::uint32_t call, int argument, const std::vector<std::uint32_t>& values, std::uint32_t listed,
                     std::optional<std::uint32_t> other) {
  std::vector<sock_filter> rule = {if_equal(call, 2 * values.size() + 2), load_argument(argument)};
  for (const std::uint32_t value : values) {
    rule.push_back(if_equal(value, 1));
    rule.push_back(answer_with(listed));
  }
  rule.push_back(other ? answer_with(*other) : load(kNumber));
  append(rule);
}

void CallFilter::add_unless(std::uint32_t call, int argument, std::uint32_t bits, std::uint32_t answer) {
  append({if_equal(call, 4), load_argument(argument), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0),
          answer_with(answer), load(kNumber)});
}

// Linux before 5.16 would otherwise slow down everything that runs under a filter, and with it what is measured.
bool CallFilter::enter() const {
  const sock_fprog program = {static_cast<unsigned short>(program_.size()), const_cast<sock_filter*>(program_.data())};
  return !program_.empty() &&
         after_promise(
             [](const void* what) {
               return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, what) == 0;
             },
             &program);
}

bool after_promise(bool (*step)(const void*), const void* argument) {
  return step(argument) || (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && step(argument));
}

}  // namespace tune::platform

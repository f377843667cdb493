#pragma once
#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tune::platform {

/// A filter of system calls (seccomp) for this CPU's own calls. It exists on x86-64 and aarch64; elsewhere the calls'
/// numbers are not known, and it stays empty. An answer is what seccomp returns for a call (SECCOMP_RET_*). What no
/// rule answers is allowed; of several rules for one call, the first that answers decides.
class CallFilter {
 public:
  static constexpr std::uint32_t kAllow = 0x7fff0000;            ///< SECCOMP_RET_ALLOW
  static constexpr std::uint32_t kDeny = 0x00050000 | 1;         ///< SECCOMP_RET_ERRNO, with EPERM
  static constexpr std::uint32_t kNoSuchCall = 0x00050000 | 38;  ///< the same with ENOSYS
  static constexpr std::uint32_t kKill = 0x80000000;             ///< SECCOMP_RET_KILL_PROCESS, which raises SIGSYS

  /// `foreign` answers all calls of the other ABIs of this CPU.
  explicit CallFilter(std::uint32_t foreign);

  /// Every use of the call gets this answer.
  void add(std::uint32_t call, std::uint32_t answer);
  /// The call gets the answer `listed` if its argument (the lower half of it) is among the values. If it is not, it
  /// gets the answer `other`, or what follows decides.
  void add(std::uint32_t call, int argument, const std::vector<std::uint32_t>& values, std::uint32_t listed,
           std::optional<std::uint32_t> other);
  /// The call gets this answer unless its argument has one of these bits.
  void add_unless(std::uint32_t call, int argument, std::uint32_t bits, std::uint32_t answer);

  /// Applies it to this thread and to what it starts from now on; it cannot be lifted. Returns whether the system has
  /// the means. May be called between fork and exec.
  bool enter() const;

 private:
  void append(const std::vector<sock_filter>& rule);

  std::vector<sock_filter> program_;  ///< which ends by allowing the call
};

/// Takes the step, if need be after promising to gain no privileges, which an administrator need not do.
bool after_promise(bool (*step)(const void*), const void* argument);

}  // namespace tune::platform

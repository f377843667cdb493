#include "cpu/sandbox/fault_report.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>
#include <cstddef>

namespace tune::worker {
namespace {

constexpr std::size_t kHandlerStack = 64 << 10;
// A frame may be so large that its first access skips what lies next to the stack.
constexpr std::uintptr_t kStackReach = 16 << 20, kStackSlack = 64 << 10;

/// What the handler goes through: it cannot be given anything else.
struct Known {
  volatile FaultNote* note = nullptr;
  const std::vector<const std::vector<GuardedBuffer>*>* buffers = nullptr;
  std::uintptr_t stack_end = 0;  ///< its lowest address
};

Known known;

FaultNote::Access access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrites = 2;
  const auto* state = static_cast<const ucontext_t*>(context);
  return state->uc_mcontext.gregs[REG_ERR] & kWrites ? FaultNote::Access::write : FaultNote::Access::read;
#else
  return FaultNote::Access::unknown;
#endif
}

void note_buffer(std::uintptr_t address) {
  for (const auto* set : *known.buffers)
    for (std::size_t i = 0; i < set->size(); ++i) {
      const GuardedBuffer& buffer = (*set)[i];
      const auto data = reinterpret_cast<std::uintptr_t>(buffer.data());
      if (!buffer.surrounds(address)) continue;
      known.note->buffer = static_cast<std::uint32_t>(i);
      known.note->offset = static_cast<std::int64_t>(address - data);
      known.note->place = FaultNote::Place::buffer;
    }
}

void note_fault(int number, siginfo_t* info, void* context) {
  // The instruction faults again, and then ends the process.
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(number, &plain, nullptr);
  if (info->si_code <= 0) ::raise(number);  // someone has sent it, and nothing faults again
  if (info->si_code <= 0 || info->si_code == SI_KERNEL) return;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  known.note->access = access_of(context);
  note_buffer(address);
  if (address < known.stack_end + kStackSlack && address + kStackReach > known.stack_end)
    known.note->place = FaultNote::Place::stack;
}

std::uintptr_t end_of_stack() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  ::pthread_attr_getstack(&attributes, &lowest, &size);
  ::pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest);
}

const char* verb(FaultNote::Access access) {
  if (access == FaultNote::Access::unknown) return "went";
  return access == FaultNote::Access::write ? "wrote" : "read";
}

}  // namespace

std::string to_text(const FaultNote& note, const std::vector<Extent>& buffers) {
  if (note.place == FaultNote::Place::stack)
    return "stack overflow: the kernel needs more stack than its process has (ulimit -s)";
  if (note.place != FaultNote::Place::buffer || note.buffer >= buffers.size()) return "";
  const Extent& buffer = buffers[note.buffer];
  const auto size = static_cast<std::int64_t>(buffer.bytes);
  if (note.offset >= 0 && note.offset < size) return "";
  const bool behind = note.offset > 0;
  return fmt::format("segmentation fault: the kernel {} {} of {}, at byte {:+}", verb(note.access),
                     behind ? "past the end" : "before the start", buffer.name,
                     behind ? note.offset - size : note.offset);
}

void report_faults(volatile FaultNote& note, const std::vector<const std::vector<GuardedBuffer>*>& buffers) {
  known = {&note, &buffers, end_of_stack()};
  void* room = ::mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return;
  const stack_t stack = {room, 0, kHandlerStack};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = note_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace tune::worker

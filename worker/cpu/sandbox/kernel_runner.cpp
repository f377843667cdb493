#include "cpu/sandbox/kernel_runner.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "backend.h"
#include "capabilities.h"
#include "cpu/cpu_kernel.h"
#include "cpu/sandbox/fault_report.h"
#include "cpu/sandbox/kernel_calls.h"
#include "cpu/sandbox/kernel_memory.h"
#include "cpu/sandbox/kernel_shared_memory.h"
#include "cpu/vendor_blas.h"
#include "host/nvidia_nodes.h"
#include "measuring/measure.h"
#include "platform/process/run_delay.h"
#include "platform/process/signal_bounds.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tune::worker {
namespace {

/// Gives this thread the arithmetic that a program starts with: rounding to nearest, denormal numbers, no traps.
void reset_arithmetic() { std::fesetenv(FE_DFL_ENV); }

/// Whether it has that.
bool has_default_arithmetic() {
#if defined(__SSE__)
  constexpr unsigned kDefault = 0x1f80, kRaised = 0x3f;  // the exceptions that were raised say nothing
  if ((_mm_getcsr() & ~kRaised) != kDefault) return false;
#endif
  return std::fegetround() == FE_TONEAREST;
}

constexpr auto kRest = std::chrono::milliseconds(50);

/// What M_PERTURB takes so that every byte is 0xff, which is NaN in every float type; 0 fills nothing.
constexpr int kFoul = 0x100;

/// The launches of a request, bound to one set of addresses.
class BoundLaunches {
 public:
  BoundLaunches(const wire::MeasureRequest& request, const std::vector<GuardedBuffer>& buffers) : buffers_(buffers) {
    const auto* gemm = std::get_if<Gemm>(&request.problem);
    if (request.vendor() != nullptr) {
      load_vendor(gemm);
      return;
    }
    const wire::KernelRun& run = kernel_run(request);
    for (const GuardedBuffer& buffer : buffers)
      if ((run.zero_c && buffer.name() == "C") || (run.zero_workspace && buffer.name() == kWorkspace))
        zeroed_.push_back(&buffer);
    kernel_.emplace(request.artifact, run.launches, gemm ? gemm->acc : Type::f32,
                    [this](const std::string& name) { return address(name); });
  }

  std::vector<std::string> remarks() const { return vendor_ ? vendor_->remarks() : std::vector<std::string>(); }

  void run() const {
    for (const GuardedBuffer* buffer : zeroed_) std::memset(buffer->data(), 0, buffer->bytes());
    vendor_ ? vendor_->launch() : kernel_->launch();
  }

 private:
  void* address(const std::string& name) const {
    for (const GuardedBuffer& buffer : buffers_)
      if (buffer.name() == name) return buffer.data();
    throw SpecFailure(Stage::load, "launch.args: there is no buffer " + name);
  }
  void load_vendor(const Gemm* gemm) {
    if (!gemm) throw SpecFailure(Stage::load, "the vendor library knows no custom problem");
    vendor_.emplace(*gemm, address("A"), address("B"), address("C"));
  }

  const std::vector<GuardedBuffer>& buffers_;
  std::vector<const GuardedBuffer*> zeroed_;
  std::optional<CpuKernel> kernel_;
  std::optional<VendorGemm> vendor_;
};

class KernelRunner {
 public:
  KernelRunner(KernelSharedMemory& shared, platform::RunDelay delay, std::int64_t most_memory)
      : shared_(shared), delay_(std::move(delay)), most_memory_(most_memory) {
    for (std::uint32_t i = 0; i < KernelSharedMemory::kAddresses; ++i) buffers_[i] = shared.map(i);
    shared.close_file();
    for (const auto& buffers : buffers_) every_buffer_.push_back(&buffers);
    report_faults(const_cast<KernelNotes&>(shared.notes()).fault, every_buffer_);
  }

  [[noreturn]] void obey() {
    for (;;) {
      std::fflush(stdout);
      await_order();
      try {
        carry_out();
      } catch (const SpecFailure& refusal) {
        note(KernelNotes::Outcome::refused, refusal.what());
      } catch (const std::bad_alloc&) {
        note(KernelNotes::Outcome::out_of_memory, out_of_memory());
      } catch (const std::exception& exception) {
        note(KernelNotes::Outcome::threw, exception.what());
      } catch (const abi::__forced_unwind&) {
        throw;  // a thread that is ended by pthread_exit cannot be kept from it
      } catch (...) {
        note(KernelNotes::Outcome::threw, "the kernel threw what is no std::exception");
      }
    }
  }

 private:
  /// Tells the judge, who then stops us until there is another command.
  void await_order() {
    volatile KernelNotes& notes = shared_.notes();
    const std::uint32_t orders = ++notes.turns;
    ::syscall(SYS_futex, &notes.turns, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    for (std::uint32_t now = notes.orders; now != orders; now = notes.orders)
      ::syscall(SYS_futex, &notes.orders, FUTEX_WAIT, now, nullptr, nullptr, 0);
  }

  void carry_out() {
    reset_arithmetic();
    foul_heap(shared_.notes().fouls_heap != 0);
    if (shared_.notes().command == KernelNotes::Command::load) load();
    if (shared_.notes().command == KernelNotes::Command::touch) touch();
    if (shared_.notes().command == KernelNotes::Command::launch) launch();
    if (shared_.notes().command == KernelNotes::Command::rest) std::this_thread::sleep_for(kRest);
    if (shared_.notes().command == KernelNotes::Command::compute) compute();
  }

  void foul_heap(bool foul) {
    if (std::exchange(fouls_heap_, foul) != foul) ::mallopt(M_PERTURB, foul ? kFoul : 0);
  }

  std::string out_of_memory() const {
    if (most_memory_ == 0) return "out of memory";
    const bool asked = shared_.request().measure.memory_bytes > 0;
    return fmt::format("out of memory: its process may take {} MiB{} (--memory)", most_memory_ >> 20,
                       asked ? "" : ", four fifths of what was left");
  }

  void load() {
    for (std::size_t i = 0; i < launches_.size(); ++i) launches_[i].emplace(shared_.request(), buffers_[i]);
    std::string remarks;
    for (const std::string& remark : launches_[0]->remarks()) remarks += remark + "\n";
    note(KernelNotes::Outcome::done, remarks);
  }

  void touch() {
    for (const auto& buffers : buffers_)
      for (const GuardedBuffer& buffer : buffers) buffer.touch_pages();
  }

  void launch() {
    volatile KernelNotes& notes = shared_.notes();
    const BoundLaunches& launches = *launches_[notes.addresses];
    const std::uint32_t count = notes.launches;
    const std::uint64_t waited = delay_.nanoseconds();
    const std::uint64_t start = nanoseconds_now();
    for (std::uint32_t i = 0; i < count; ++i) launches.run();
    notes.end = nanoseconds_now();
    notes.start = start;
    notes.waited = delay_.nanoseconds() - waited;
    if (!has_default_arithmetic()) notes.changed_arithmetic = 1;
  }

  void compute() {
    volatile KernelNotes& notes = shared_.notes();
    const std::uint64_t start = nanoseconds_now();
    while (nanoseconds_now() - start < notes.nanoseconds) {
    }
    notes.end = nanoseconds_now();
    notes.start = start;
  }

  void note(KernelNotes::Outcome outcome, const std::string& text) {
    shared_.set_text(text);
    shared_.notes().outcome = outcome;
  }

  KernelSharedMemory& shared_;
  platform::RunDelay delay_;  ///< of the thread that launches
  std::int64_t most_memory_;
  bool fouls_heap_ = false;
  std::vector<const std::vector<GuardedBuffer>*> every_buffer_;
  std::array<std::vector<GuardedBuffer>, KernelSharedMemory::kAddresses> buffers_;
  std::array<std::optional<BoundLaunches>, KernelSharedMemory::kAddresses> launches_;
};

}  // namespace

int run_kernel() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "tune-kernel");
  KernelSharedMemory shared{platform::Descriptor(kSharedDescriptor)};
  if (::getppid() != shared.notes().judge) return 0;  // it died before it could take us with it
  platform::SignalBounds::of_this_process(
      {static_cast<pid_t>(shared.notes().judge), static_cast<pid_t>(shared.notes().driver)})
      .enter();
  platform::RunDelay delay("/proc/thread-self/schedstat");
  // If the system has Landlock, we cannot look into other processes from here on, such as our judge, nor open what they
  // have open, such as the reference, nor have the system end them when memory is short (oom_score_adj).
  renounce_the_system();
  compute_in_threads_only();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that the log holds what a kernel said before it crashed
  KernelRunner(shared, std::move(delay), limit_memory(shared.request().measure.memory_bytes)).obey();
}

}  // namespace tune::worker

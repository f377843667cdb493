#include "kernel_runner.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>

#include "backend.h"
#include "base/signal_bounds.h"
#include "cpu_kernel.h"
#include "kernel_room.h"
#include "measure.h"
#include "nvidia_nodes.h"
#include "vendor_blas.h"

namespace tune {
namespace {

constexpr std::size_t kLine = 64;

/// The launches of a request, bound to one set of addresses.
class BoundLaunches {
 public:
  BoundLaunches(const wire::MeasureRequest& request, const std::vector<GuardedBuffer>& buffers) : buffers_(buffers) {
    for (const GuardedBuffer& buffer : buffers)
      if ((request.zero_c && buffer.name() == "C") || (request.zero_workspace && buffer.name() == kWorkspace))
        zeroed_.push_back(&buffer);
    const auto* gemm = std::get_if<Gemm>(&request.problem);
    if (request.vendor)
      load_vendor(gemm);
    else
      kernel_.emplace(request.artifact, request.launches, gemm ? gemm->acc : Type::f32,
                      [this](const std::string& name) { return address(name); });
  }

  std::vector<std::string> remarks() const { return vendor_ ? vendor_->remarks() : std::vector<std::string>(); }

  void run() const {
    for (const GuardedBuffer* buffer : zeroed_) std::memset(buffer->data(), 0, buffer->bytes());
    vendor_ ? vendor_->launch() : kernel_->launch();
  }

  /// Brings the buffers into the caches, as far as they fit.
  void touch() const {
    for (const GuardedBuffer& buffer : buffers_)
      for (std::size_t at = 0; at < buffer.bytes(); at += kLine) static_cast<volatile std::byte*>(buffer.data())[at];
  }

 private:
  void* address(const std::string& name) const {
    for (const GuardedBuffer& buffer : buffers_)
      if (buffer.name() == name) return buffer.data();
    throw Refusal(Stage::load, "launch.args: there is no buffer " + name);
  }
  void load_vendor(const Gemm* gemm) {
    if (!gemm) throw Refusal(Stage::load, "the vendor library knows no custom problem");
    vendor_.emplace(*gemm, address("A"), address("B"), address("C"));
  }

  const std::vector<GuardedBuffer>& buffers_;
  std::vector<const GuardedBuffer*> zeroed_;
  std::optional<CpuKernel> kernel_;
  std::optional<VendorGemm> vendor_;
};

class KernelRunner {
 public:
  explicit KernelRunner(KernelRoom& room) : room_(room) {
    for (auto& buffers : buffers_) buffers = room.map();
    room.close_file();
  }

  [[noreturn]] void obey() {
    for (;;) {
      std::fflush(stdout);
      await_order();
      try {
        carry_out();
      } catch (const Refusal& refusal) {
        note(KernelNotes::Outcome::refused, refusal.what());
      } catch (const std::exception& exception) {
        note(KernelNotes::Outcome::threw, exception.what());
      }
    }
  }

 private:
  /// Tells the judge, who then stops us until there is another command.
  void await_order() {
    volatile KernelNotes& notes = room_.notes();
    const std::uint32_t orders = ++notes.turns;
    ::syscall(SYS_futex, &notes.turns, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    while (notes.orders != orders) ::syscall(SYS_futex, &notes.orders, FUTEX_WAIT, notes.orders, nullptr, nullptr, 0);
  }

  void carry_out() {
    if (room_.notes().command == KernelNotes::Command::load) load();
    if (room_.notes().command == KernelNotes::Command::touch) launches_[room_.notes().addresses]->touch();
    if (room_.notes().command == KernelNotes::Command::launch) launch();
  }

  void load() {
    for (std::size_t i = 0; i < launches_.size(); ++i) launches_[i].emplace(room_.request(), buffers_[i]);
    std::string remarks;
    for (const std::string& remark : launches_[0]->remarks()) remarks += remark + "\n";
    note(KernelNotes::Outcome::done, remarks);
  }

  void launch() {
    volatile KernelNotes& notes = room_.notes();
    const BoundLaunches& launches = *launches_[notes.addresses];
    const double start = seconds_now();
    launches.run();
    notes.end = seconds_now();
    notes.start = start;
  }

  void note(KernelNotes::Outcome outcome, const std::string& text) {
    room_.set_text(text);
    room_.notes().outcome = outcome;
  }

  KernelRoom& room_;
  std::array<std::vector<GuardedBuffer>, KernelRoom::kAddresses> buffers_;
  std::array<std::optional<BoundLaunches>, KernelRoom::kAddresses> launches_;
};

}  // namespace

int run_kernel() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "tune-kernel");
  KernelRoom room{Descriptor(kRoomDescriptor)};
  if (::getppid() != room.notes().judge) return 0;  // it died before it could take us with it
  SignalBounds::of_this_process().enter();
  // Where the system has Landlock. It also keeps us from looking into processes outside, our judge among them.
  const std::string hidden = room.text();
  renounce(hidden.empty() ? std::vector<std::filesystem::path>() : std::vector<std::filesystem::path>{hidden});
  room.set_text("");
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that the log holds what a kernel said before it crashed
  KernelRunner(room).obey();
}

}  // namespace tune

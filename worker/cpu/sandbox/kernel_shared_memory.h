#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "checking/guarded_buffer.h"
#include "cpu/sandbox/fault_report.h"
#include "platform/files/descriptor.h"
#include "wire/messages.h"

namespace tune::worker {

/// The beginning of the memory that a kernel's process and its judge share. The judge writes what is to be done, and
/// the process writes what came of it. A kernel can write there too, so the judge relies on none of it.
struct KernelNotes {
  enum class Command : std::uint32_t { nothing, load, touch, launch, rest, compute };
  enum class Outcome : std::uint32_t { done, refused, threw, out_of_memory };

  std::int64_t judge = 0, driver = 0;  ///< their processes
  Command command = Command::nothing;
  std::uint32_t addresses =
      0;  ///< which of the buffers' addresses the launch gets: below KernelSharedMemory::kAddresses
  std::atomic<std::uint32_t> orders = 0, turns = 0;  ///< commands that were given and carried out; futexes
  Outcome outcome = Outcome::done;
  std::uint32_t launches = 1;            ///< how many of them the command `launch` makes, without a pause
  std::uint32_t fouls_heap = 0;          ///< whether memory that the kernel takes from the heap is filled with NaNs
  std::uint64_t start = 0, end = 0;      ///< of the launch or computation, in nanoseconds of the process's clock
  std::uint64_t waited = 0;              ///< nanoseconds of these that the launching thread waited for a core
  std::uint64_t nanoseconds = 0;         ///< how long the command `compute` computes, as if it were a kernel
  std::uint32_t changed_arithmetic = 0;  ///< the kernel returned with a changed floating-point environment
  FaultNote fault;
  std::uint64_t request_bytes = 0;
  /// What it refused or threw, or the remarks on what it loaded.
  std::array<char, 4096> text = {};
};

/// Memory that a kernel's process and its judge share: the notes, the request for its launches, and the buffers of its
/// problem with their workspace. Nothing in it tells which results are right.
class KernelSharedMemory {
 public:
  static constexpr std::uint32_t kAddresses = 2;

  /// Creates the memory, in the judge; its size is sealed then. Throws std::bad_alloc.
  explicit KernelSharedMemory(const wire::MeasureRequest& request);
  /// Attaches to the memory, in the kernel's process.
  explicit KernelSharedMemory(platform::Descriptor file);
  ~KernelSharedMemory();
  KernelSharedMemory(const KernelSharedMemory&) = delete;
  KernelSharedMemory& operator=(const KernelSharedMemory&) = delete;

  int file() const { return file_.get(); }
  /// Closes the descriptor; after that nothing more can be mapped.
  void close_file() { file_.close(); }
  volatile KernelNotes& notes() const { return *notes_; }
  std::string text() const;
  /// Stores the text, cut to the space available.
  void set_text(const std::string& text);
  /// The request without the reference and without the other things that a launch does not need.
  const wire::MeasureRequest& request() const { return request_; }
  /// The extents of all buffers in their order, and then that of the workspace.
  std::vector<Extent> extents() const;
  /// Maps all buffers and then the workspace, at new addresses with each call. `addresses` is below kAddresses. If
  /// buffers have protected ends (`strict`), it chooses one of two separate sets of memory: in set 0 inaccessible
  /// memory lies right before each buffer, in set 1 right behind it. Otherwise there is one set, and it does not
  /// matter.
  std::vector<GuardedBuffer> map(std::uint32_t addresses) const;

 private:
  void map_notes(std::size_t bytes);
  GuardedBuffer::Place place(std::uint32_t addresses) const;
  /// The size of one set of buffers.
  std::size_t buffers_bytes() const;

  platform::Descriptor file_;
  KernelNotes* notes_ = nullptr;
  std::size_t mapped_ = 0;  ///< bytes of the notes and the request
  wire::MeasureRequest request_;
};

/// The name under which the workspace stands among the buffers.
inline constexpr const char* kWorkspace = "workspace";

}  // namespace tune::worker

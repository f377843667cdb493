#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "fault_report.h"
#include "guarded_buffer.h"
#include "wire/messages.h"

namespace tune::worker {

/// The first page of what a kernel's process and its judge share. The judge writes what is to be done, the process what
/// became of it; a kernel can write to it too, so that a judge relies on none of it.
struct KernelNotes {
  enum class Command : std::uint32_t { nothing, load, touch, launch, rest };
  enum class Outcome : std::uint32_t { done, refused, threw, out_of_memory };

  std::int64_t judge = 0;  ///< its process
  Command command = Command::nothing;
  std::uint32_t addresses = 0;  ///< which of the buffers' addresses the launch gets: below KernelRoom::kAddresses
  std::atomic<std::uint32_t> orders = 0, turns = 0;  ///< commands that were given and carried out; futexes
  Outcome outcome = Outcome::done;
  std::uint32_t fouls_heap = 0;          ///< whether heap memory that the kernel takes is filled with what nobody wants
  std::uint64_t start = 0, end = 0;      ///< of the launch, in nanoseconds of the process's clock
  std::uint32_t changed_arithmetic = 0;  ///< the kernel has left this thread another one than it found
  FaultNote fault;
  std::uint64_t request_bytes = 0;
  /// First the file that the process must not read; then what it refused or threw, or what is to be known of what it
  /// loaded.
  std::array<char, 4096> text = {};
};

/// Memory that a kernel's process and its judge share: the notes, the request for its launches, and the buffers of its
/// problem with their workspace. Holds nothing that says what is right.
class KernelRoom {
 public:
  static constexpr std::uint32_t kAddresses = 2;

  /// The judge's: takes the memory, whose size nobody can change any more. Throws std::bad_alloc.
  explicit KernelRoom(const wire::MeasureRequest& request);
  /// The kernel's process's.
  explicit KernelRoom(base::Descriptor file);
  ~KernelRoom();
  KernelRoom(const KernelRoom&) = delete;
  KernelRoom& operator=(const KernelRoom&) = delete;

  int file() const { return file_.get(); }
  /// Nothing can be mapped any more.
  void close_file() { file_.close(); }
  volatile KernelNotes& notes() const { return *notes_; }
  std::string text() const;
  /// As much of it as there is room for.
  void set_text(const std::string& text);
  /// Without the reference, and all else that no launch needs.
  const wire::MeasureRequest& request() const { return request_; }
  /// The buffers by number, and then the workspace.
  std::vector<Extent> extents() const;
  /// Maps the buffers, by number and then the workspace, at addresses of their own every time. `addresses` is below
  /// kAddresses: where buffers have protected ends the first ones have them at their starts, the second ones, which are
  /// other memory, at their ends; else it does not matter.
  std::vector<GuardedBuffer> map(std::uint32_t addresses) const;

 private:
  void map_notes(std::size_t bytes);
  GuardedBuffer::Place place(std::uint32_t addresses) const;
  /// Of one set of addresses.
  std::size_t buffers_bytes() const;

  base::Descriptor file_;
  KernelNotes* notes_ = nullptr;
  std::size_t mapped_ = 0;  ///< bytes of the notes and the request
  wire::MeasureRequest request_;
};

/// Name of the buffer that is the workspace.
inline constexpr const char* kWorkspace = "workspace";

}  // namespace tune::worker

#include "cpu/sandbox/kernel_shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "checking/layout.h"

namespace tune::worker {
namespace {

wire::MeasureRequest for_launches(wire::MeasureRequest request) {
  request.reference.clear();
  request.keep.clear();
  request.seed = 0;
  return request;
}

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// The system gives shared memory out before it has it, and then ends processes; of private memory it says no.
void require_memory(std::size_t bytes) {
  void* probe = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) throw std::bad_alloc();
  ::munmap(probe, bytes);
}

}  // namespace

KernelSharedMemory::KernelSharedMemory(const wire::MeasureRequest& request) : request_(for_launches(request)) {
  const std::string text = wire::encode(wire::Request(request_));
  const std::size_t head = whole_pages(sizeof(KernelNotes) + text.size());
  std::size_t total = head;
  total += buffers_bytes() * (request_.measure.strict ? kAddresses : 1);
  require_memory(total);
  file_ = platform::Descriptor(::memfd_create("tune-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(total)) != 0 ||
      ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw std::bad_alloc();
  map_notes(head);
  new (notes_) KernelNotes;
  notes_->judge = ::getpid();
  notes_->driver = ::getppid();
  notes_->request_bytes = text.size();
  std::ranges::copy(text, reinterpret_cast<char*>(notes_ + 1));
}

KernelSharedMemory::KernelSharedMemory(platform::Descriptor file) : file_(std::move(file)) {
  map_notes(sizeof(KernelNotes));
  const std::size_t text = notes_->request_bytes;
  ::munmap(std::exchange(notes_, nullptr), mapped_);
  map_notes(whole_pages(sizeof(KernelNotes) + text));
  request_ = std::get<wire::MeasureRequest>(
      wire::decode_request({reinterpret_cast<const char*>(notes_ + 1), static_cast<std::size_t>(text)}));
}

KernelSharedMemory::~KernelSharedMemory() {
  if (notes_) ::munmap(notes_, mapped_);
}

void KernelSharedMemory::map_notes(std::size_t bytes) {
  void* mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  notes_ = static_cast<KernelNotes*>(mapping);
  mapped_ = bytes;
}

std::string KernelSharedMemory::text() const {
  return {notes_->text.data(), ::strnlen(notes_->text.data(), notes_->text.size())};
}

void KernelSharedMemory::set_text(const std::string& text) {
  notes_->text.fill('\0');
  std::copy_n(text.data(), std::min(text.size(), notes_->text.size() - 1), notes_->text.data());
}

std::vector<Extent> KernelSharedMemory::extents() const {
  std::vector<Extent> all;
  for (const Buffer& buffer : buffers_of(request_.problem))
    all.push_back({buffer.name, static_cast<std::size_t>(buffer.count * size_of(buffer.type))});
  if (request_.workspace_bytes() > 0) all.push_back({kWorkspace, static_cast<std::size_t>(request_.workspace_bytes())});
  return all;
}

GuardedBuffer::Place KernelSharedMemory::place(std::uint32_t addresses) const {
  if (!request_.measure.strict) return GuardedBuffer::Place::between_bands;
  return addresses == 0 ? GuardedBuffer::Place::at_start : GuardedBuffer::Place::at_end;
}

std::size_t KernelSharedMemory::buffers_bytes() const {
  std::size_t total = 0;
  for (const Extent& extent : extents()) total += GuardedBuffer::footprint(extent.bytes, place(0));
  return total;
}

std::vector<GuardedBuffer> KernelSharedMemory::map(std::uint32_t addresses) const {
  std::vector<GuardedBuffer> buffers;
  std::size_t offset = mapped_ + (request_.measure.strict ? addresses * buffers_bytes() : 0);
  for (const Extent& extent : extents()) {
    buffers.emplace_back(extent.name, extent.bytes, file_.get(), offset, place(addresses));
    offset += GuardedBuffer::footprint(extent.bytes, place(addresses));
  }
  return buffers;
}

}  // namespace tune::worker

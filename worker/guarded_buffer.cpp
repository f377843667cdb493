#include "guarded_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace tune {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Bytes of a guard band that are no longer as they were, and the first and last of them.
struct Written {
  std::size_t count = 0, first = 0, last = 0;
};

Written written(std::span<const std::byte> band, std::size_t phase) {
  Written result;
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (band[i] == poison_at(i + phase, Poison::nan)) continue;
    if (result.count++ == 0) result.first = i;
    result.last = i;
  }
  return result;
}

const char* bytes_text(std::size_t count) { return count == 1 ? "byte" : "bytes"; }

}  // namespace

GuardedBuffer::GuardedBuffer(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = round_up(kBand, page);
  mapped_ = page + before + round_up(bytes + kBand, page) + page;
  void* mapping = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  data_ = mapping_ + page + before;
  ::mprotect(mapping_, page, PROT_NONE);
  ::mprotect(mapping_ + mapped_ - page, page, PROT_NONE);
  poison({data_ - kBand, static_cast<std::size_t>(band_behind().data() + band_behind().size() - (data_ - kBand))},
         Poison::nan);
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_) ::munmap(mapping_, mapped_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::span<std::byte> GuardedBuffer::band_behind() const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return {data_ + bytes_, mapping_ + mapped_ - page};
}

std::optional<std::string> GuardedBuffer::intrusion() const {
  if (const Written hit = written(band_behind(), bytes_); hit.count > 0)
    return fmt::format("guard band hit: {} {} written past the end of {}, first at +{}", hit.count,
                       bytes_text(hit.count), name_, hit.first);
  if (const Written hit = written(band_before(), 0); hit.count > 0)
    return fmt::format("guard band hit: {} {} written before the start of {}, last at -{}", hit.count,
                       bytes_text(hit.count), name_, kBand - hit.last);
  return std::nullopt;
}

void poison(std::span<std::byte> bytes, Poison pattern) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = poison_at(i, pattern);
}

}  // namespace tune

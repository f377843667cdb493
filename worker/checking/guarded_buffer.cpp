#include "checking/guarded_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "model/values/text.h"

namespace tune::worker {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// How many bytes of a guard band have changed, and the first and last of them.
struct Written {
  std::size_t count = 0, first = 0, last = 0;
};

Written written(std::span<const std::byte> band, std::size_t phase, Poison pattern) {
  Written result;
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (band[i] == poison_at(i + phase, pattern)) continue;
    if (result.count++ == 0) result.first = i;
    result.last = i;
  }
  return result;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::string name, std::size_t bytes, int file, std::size_t offset, Place place)
    : name_(std::move(name)), bytes_(bytes) {
  const std::size_t usable = footprint(bytes, place);
  mapped_ = kMoat + usable + kMoat;
  void* mapping = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  // Populated now, so that no launch has to wait for its pages.
  if (::mmap(mapping_ + kMoat, usable, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file,
             static_cast<off_t>(offset)) == MAP_FAILED) {
    ::munmap(mapping_, mapped_);
    throw std::bad_alloc();
  }
  ::madvise(mapping_ + kMoat, usable, MADV_DONTFORK);
  data_ = mapping_ + kMoat;
  if (place == Place::between_bands) data_ += round_up(kBand, page_bytes());
  if (place == Place::at_end) data_ += usable - round_up(bytes, kLine);
}

std::size_t GuardedBuffer::footprint(std::size_t bytes, Place place) {
  if (place != Place::between_bands) return round_up(std::max<std::size_t>(bytes, 1), page_bytes());
  return round_up(kBand, page_bytes()) + round_up(bytes + kBand, page_bytes());
}

bool GuardedBuffer::surrounds(std::uintptr_t address) const {
  return address - reinterpret_cast<std::uintptr_t>(mapping_) < mapped_;
}

void GuardedBuffer::poison_all(Poison band) {
  band_ = band;
  poison({mapping_ + kMoat, band_behind().data() + band_behind().size()}, band);
  poison({data_, bytes_}, Poison::nan);
}

void GuardedBuffer::release_pages() { ::madvise(mapping_ + kMoat, mapped_ - 2 * kMoat, MADV_REMOVE); }

void GuardedBuffer::touch_pages() const {
  for (const std::byte* at = mapping_ + kMoat; at < mapping_ + mapped_ - kMoat; at += page_bytes())
    static_cast<void>(*static_cast<const volatile std::byte*>(at));
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
  std::swap(band_, other.band_);
  return *this;
}

std::span<std::byte> GuardedBuffer::band_behind() const { return {data_ + bytes_, mapping_ + mapped_ - kMoat}; }

std::optional<std::string> GuardedBuffer::intrusion() const {
  return tune::worker::intrusion(name_, band_before(), band_behind(), bytes_, band_);
}

std::optional<std::string> intrusion(const std::string& name, std::span<const std::byte> before,
                                     std::span<const std::byte> behind, std::size_t bytes, Poison band) {
  if (const Written hit = written(behind, bytes, band); hit.count > 0)
    return fmt::format("guard band hit: {} written past the end of {}, first at byte +{}", plural(hit.count, "byte"),
                       name, hit.first);
  if (const Written hit = written(before, 0, band); hit.count > 0)
    return fmt::format("guard band hit: {} written before the start of {}, last at byte -{}", plural(hit.count, "byte"),
                       name, before.size() - hit.last);
  return std::nullopt;
}

void poison(std::span<std::byte> bytes, Poison pattern) {
  std::array<std::byte, 4096> block;
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = poison_at(i, pattern);
  for (std::size_t at = 0; at < bytes.size(); at += block.size())
    std::memcpy(bytes.data() + at, block.data(), std::min(block.size(), bytes.size() - at));
}

}  // namespace tune::worker

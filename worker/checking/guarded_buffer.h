#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tune::worker {

/// 16 bits that are repeated through memory nobody may read or must write. The first is a NaN in every float type; an
/// integer that happens to equal it does not equal the second, so integers are checked under both. Guard bands may have
/// other patterns.
enum class Poison : std::uint16_t { nan = 0xfff5, other = 0x0a5a };

/// Memory for one argument of a kernel, a part of a file that several processes map: page-aligned, with a guard band on
/// each side and inaccessible memory beyond those, so that a near miss is found afterwards and a far one ends the
/// process. Or it has inaccessible memory right at one end, so that even a read beyond it ends the process. Owns its
/// mapping, which children of the process do not inherit.
class GuardedBuffer {
 public:
  /// Where the buffer lies between what is inaccessible: apart from it; right behind it; or right before it, less the
  /// rest of its last cache line, so that it is aligned to kLine. What is left between is guard band.
  enum class Place { between_bands, at_start, at_end };
  static constexpr std::size_t kLine = 64;

  static constexpr std::size_t kBand = 4096;      ///< bytes of a guard band; the one behind may be longer
  static constexpr std::size_t kMoat = 16 << 20;  ///< inaccessible bytes on each side; takes address space only

  GuardedBuffer() = default;
  /// Maps what is in the file from `offset` on, a whole number of pages. `name` is for messages. Throws std::bad_alloc.
  GuardedBuffer(std::string name, std::size_t bytes, int file, std::size_t offset, Place place = Place::between_bands);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;

  /// How many bytes of the file a buffer takes: a whole number of pages.
  static std::size_t footprint(std::size_t bytes, Place place = Place::between_bands);

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether the address is in the buffer, its guard bands, or what is inaccessible beyond them.
  bool surrounds(std::uintptr_t address) const;

  /// Gives its pages back to the system, for all who map them. What is read next is 0, on other pages.
  void release_pages();
  /// Reads each page, so that no launch has to wait for it.
  void touch_pages() const;

  /// Poisons all bytes, and the guard bands with a pattern of their own.
  void poison_all(Poison band);
  /// `guard band hit: 12 bytes written past the end of C, first at byte +0`, if a guard band was written to.
  std::optional<std::string> intrusion() const;

 private:
  std::span<std::byte> band_before() const { return {mapping_ + kMoat, data_}; }
  std::span<std::byte> band_behind() const;

  std::string name_;
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  Poison band_ = Poison::nan;
};

/// The same of guard bands that were copied from elsewhere, around a buffer of `bytes`.
std::optional<std::string> intrusion(const std::string& name, std::span<const std::byte> before,
                                     std::span<const std::byte> behind, std::size_t bytes, Poison band);

void poison(std::span<std::byte> bytes, Poison pattern);

/// What a poisoned byte is, by its offset from the start of what was poisoned.
inline std::byte poison_at(std::size_t offset, Poison pattern) {
  const auto word = static_cast<std::uint16_t>(pattern);
  return static_cast<std::byte>(offset % 2 == 0 ? word & 0xff : word >> 8);
}

}  // namespace tune::worker

#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "checking/generator.h"
#include "model/problem.h"

namespace tune::worker {

/// What a buffer holds before a launch: element i is a function of (seed, buffer, i) alone, where i is the element's
/// offset from the buffer's start, padding included. Nothing is stored, so inputs are verified by making them again.
///
/// uniform, normal, hpl, trig, iota and scales are as in generator.h times the factor, rounded to the type; iota is
/// taken modulo 2^(bits of the significand), so that it is exact. Integers are the same numbers scaled to 8 bits.
/// A list, and one of which the elements are differences, is in memory, on the host or on the device where it is
/// needed.
struct Content {
  Type type = Type::f32;
  generator::Source source = generator::Source::uniform;
  std::uint64_t seed = 0;
  std::uint64_t buffer = 0;  ///< number of the buffer in its problem, as in layout.h
  double factor = 1;         ///< a power of two; 1 for integers and iota
  const std::int32_t* list = nullptr;
};

inline generator::Source source_of(Init init) {
  static_assert(static_cast<int>(Init::uniform) == static_cast<int>(generator::Source::uniform) &&
                static_cast<int>(Init::iota) == static_cast<int>(generator::Source::iota));
  return static_cast<generator::Source>(init);
}

/// What the buffer with this number holds, as an input. With an activation, B's factor makes elements of the product
/// about as large as 1, as far as B's type can: for large numbers all activations are alike, and a wrong one would not
/// show.
/// The list of groups' offsets is the problem's own.
Content content_of(const Gemm& gemm, std::size_t buffer, std::uint64_t seed);

void fill(const Content& content, void* data, std::int64_t count);

/// The elements [first, first + count) to `to`.
void fill_part(const Content& content, std::int64_t first, std::int64_t count, void* to);

/// The elements from `first` on as doubles.
void generate(const Content& content, std::int64_t first, std::int64_t count, double* values);

/// The offset of the first of the elements [first, first + count) of a buffer starting at `data` that is not, bit for
/// bit, what `fill` puts there.
std::optional<std::int64_t> first_difference(const Content& content, const void* data, std::int64_t first,
                                             std::int64_t count);

/// The first i of [0, count) where `part` is not what `fill` puts at `first` + i.
std::optional<std::int64_t> first_difference_of_part(const Content& content, std::int64_t first, std::int64_t count,
                                                     const void* part);

}  // namespace tune::worker

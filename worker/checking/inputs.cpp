#include "checking/inputs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "checking/elements.h"
#include "checking/generator.h"
#include "checking/layout.h"
#include "checking/parallel.h"

namespace tune::worker {
namespace {

constexpr std::int64_t kFillGrain = 1 << 16;  // elements that are worth a thread
constexpr std::int64_t kChunk = 1024;         // elements made at a time where they are not stored

/// A number of the generator as an integer of 8 bits. The scales are powers of two, so that nothing rounds.
template <typename Source>
int scaled(double x) {
  const double scale = std::is_same_v<Source, generator::Normal> ? 32 : 128;
  const int floor = static_cast<int>(x * scale + 1024) - 1024;
  return std::clamp(floor, -127, 127);  // -128 has no counterpart of the other sign
}

template <typename T, typename Source>
T element(std::uint64_t key, std::uint64_t index, double factor) {
  if constexpr (std::is_same_v<Source, generator::Iota>)
    return rounded<T>(Source::at(key, index & ((std::uint64_t{1} << significand_bits<T>()) - 1)));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(scaled<Source>(Source::at(key, index)));
  else
    return rounded<T>(factor * Source::at(key, index));
}

template <typename F>
void with_source(generator::Source source, F&& f) {
  using enum generator::Source;
  switch (source) {
    case uniform:
      return f(generator::Uniform{});
    case normal:
      return f(generator::Normal{});
    case hpl:
      return f(generator::Hpl{});
    case trig:
      return f(generator::Trig{});
    case zeros:
      return f(generator::Zeros{});
    case iota:
      return f(generator::Iota{});
    case scales:
      return f(generator::Scales{});
    case listed:
    case differences:
      return;
  }
}

double variance_of(Init init) {
  switch (init) {
    case Init::uniform:
      return 1.0 / 3;
    case Init::hpl:
      return 1.0 / 12;
    default:
      return 1;
  }
}

/// The power of two by which B is multiplied.
double factor_of_b(const Gemm& gemm) {
  if (gemm.epilogue == Epilogue::none || gemm.alpha == 0) return 1;
  const double deviation = std::fabs(gemm.alpha) * std::sqrt(static_cast<double>(gemm.k)) * variance_of(gemm.init);
  const int most = most_doublings(gemm.b);
  return std::ldexp(1, std::clamp(static_cast<int>(std::lround(-std::log2(deviation))), -most, most));
}

/// Elements [first, first + count) to `to`.
template <typename T>
void make(const Content& content, std::int64_t first, std::int64_t count, T* to) {
  if (content.list != nullptr) {
    for (const std::int32_t* at = content.list + first; at < content.list + first + count; ++at) {
      const int x = content.source == generator::Source::listed ? at[0] : at[1] - at[0];
      if constexpr (std::is_integral_v<T>)
        *to++ = static_cast<T>(x);
      else
        *to++ = rounded<T>(x);
    }
    return;
  }
  const std::uint64_t key = generator::key(content.seed, content.buffer);
  with_source(content.source, [&](auto source) {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = element<T, decltype(source)>(key, static_cast<std::uint64_t>(first + i), content.factor);
  });
}

/// Calls `use(begin, chunk, size)` for consecutive chunks of [first, first + count), made on the stack.
template <typename T, typename Use>
void in_chunks(const Content& content, std::int64_t first, std::int64_t count, Use&& use) {
  std::array<T, kChunk> chunk;
  for (std::int64_t done = 0; done < count; done += kChunk) {
    const std::int64_t size = std::min(kChunk, count - done);
    make(content, first + done, size, chunk.data());
    use(done, chunk.data(), size);
  }
}

}  // namespace

Content content_of(const Gemm& gemm, std::size_t buffer, std::uint64_t seed) {
  const Buffer filled = buffers_of(gemm)[buffer];
  if (is_list_of_groups(gemm, buffer))
    return {filled.type, gemm.max_rows > 0 ? generator::Source::differences : generator::Source::listed,
            seed,        buffer,
            1,           gemm.group_offsets.data()};
  const bool is_scales = buffer >= number_of_scale_a(gemm);
  return {filled.type, is_scales ? generator::Source::scales : source_of(filled.init), seed, buffer,
          buffer == kNumberOfB ? factor_of_b(gemm) : 1};
}

void fill(const Content& content, void* data, std::int64_t count) { fill_part(content, 0, count, data); }

void fill_part(const Content& content, std::int64_t first, std::int64_t count, void* to) {
  with_type(content.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(count, kFillGrain, [&](std::int64_t begin, std::int64_t end) {
      make(content, first + begin, end - begin, static_cast<T*>(to) + begin);
    });
  });
}

void generate(const Content& content, std::int64_t first, std::int64_t count, double* values) {
  with_type(content.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(count, kFillGrain, [&](std::int64_t begin, std::int64_t end) {
      in_chunks<T>(content, first + begin, end - begin, [&](std::int64_t at, const T* chunk, std::int64_t size) {
        std::transform(chunk, chunk + size, values + begin + at, [](T x) { return to_double(x); });
      });
    });
  });
}

std::optional<std::int64_t> first_difference(const Content& content, const void* data, std::int64_t first,
                                             std::int64_t count) {
  const auto found = first_difference_of_part(content, first, count,
                                              static_cast<const std::byte*>(data) + first * size_of(content.type));
  return found ? std::optional(first + *found) : std::nullopt;
}

std::optional<std::int64_t> first_difference_of_part(const Content& content, std::int64_t first, std::int64_t count,
                                                     const void* part) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> result = kNone;
  with_type(content.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    // It is the bits that must be the same.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    const auto same = [](const T& x, const T& y) { return std::memcmp(&x, &y, sizeof(T)) == 0; };
    parallel_for(count, kFillGrain, [&](std::int64_t begin, std::int64_t end) {
      in_chunks<T>(content, first + begin, end - begin, [&](std::int64_t at, const T* chunk, std::int64_t size) {
        const std::int64_t offset = begin + at;
        const T* actual = static_cast<const T*>(part) + offset;
        if (offset > result || std::memcmp(actual, chunk, sizeof(T) * static_cast<std::size_t>(size)) == 0) return;
        const std::int64_t found = offset + (std::mismatch(chunk, chunk + size, actual, same).first - chunk);
        for (std::int64_t seen = result; found < seen && !result.compare_exchange_weak(seen, found);) {
        }
      });
    });
  });
  if (result == kNone) return std::nullopt;
  return result;
}

}  // namespace tune::worker

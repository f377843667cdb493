#include "measuring/cache_flush.h"

#include <algorithm>

#include "checking/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <unistd.h>

#include <vector>
#endif

namespace tune::worker {
namespace {

constexpr std::int64_t kLine = 64;

}  // namespace

void warm_caches(std::span<const std::byte> range) {
  for (std::size_t at = 0; at < range.size(); at += kLine) static_cast<const volatile std::byte*>(range.data())[at];
}

#if defined(__x86_64__)
namespace {

[[gnu::target("clflushopt")]] void flush_lines_fast(const std::byte* begin, const std::byte* end) {
  for (const std::byte* at = begin; at < end; at += kLine) _mm_clflushopt(const_cast<std::byte*>(at));
  _mm_sfence();
}

void flush_lines(const std::byte* begin, const std::byte* end) {
  for (const std::byte* at = begin; at < end; at += kLine) _mm_clflush(at);
}

}  // namespace

void flush_caches(std::span<const std::byte> range) {
  const bool fast = __builtin_cpu_supports("clflushopt");
  const auto lines = static_cast<std::int64_t>(range.size()) / kLine + 1;
  parallel_for(lines, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    const auto last = std::min<std::int64_t>(end * kLine, static_cast<std::int64_t>(range.size()));
    (fast ? flush_lines_fast : flush_lines)(range.data() + begin * kLine, range.data() + last);
  });
}

#else

void flush_caches(std::span<const std::byte>) {
  static const std::int64_t largest = std::max<std::int64_t>(::sysconf(_SC_LEVEL3_CACHE_SIZE), 32 << 20);
  static std::vector<char> sweep(static_cast<std::size_t>(2 * largest), 1);
  parallel_for(static_cast<std::int64_t>(sweep.size()) / kLine, 1 << 14, [](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line)
      static_cast<volatile char&>(sweep[static_cast<std::size_t>(line * kLine)]);
  });
}

#endif

}  // namespace tune::worker

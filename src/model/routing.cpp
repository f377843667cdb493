#include "model/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "model/values/random.h"

namespace tune {
namespace {

constexpr std::string_view kZipf = "zipf ";
constexpr double kMostExponent = 10;

}  // namespace

std::optional<Routing> parse_routing(std::string_view text) {
  if (text == "even") return Routing{};
  if (text == "uniform") return Routing{false, 0};
  if (!text.starts_with(kZipf)) return std::nullopt;
  text.remove_prefix(kZipf.size());
  Routing zipf{false, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), zipf.exponent);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && zipf.exponent > 0 && zipf.exponent <= kMostExponent ? std::optional(zipf) : std::nullopt;
}

std::string to_text(const Routing& routing) {
  return routing.even ? "even" : routing.exponent == 0 ? "uniform" : fmt::format("{}{}", kZipf, routing.exponent);
}

std::vector<std::int64_t> draw_rows(const Routing& routing, std::int64_t rows, std::int64_t groups,
                                    std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(groups);
  if (routing.even) {
    std::vector<std::int64_t> even(count, rows / groups);
    for (std::int64_t i = 0; i < rows % groups; ++i) ++even[static_cast<std::size_t>(i)];
    return even;
  }
  Random random(seed);
  std::vector<std::size_t> ranked(count);
  std::iota(ranked.begin(), ranked.end(), 0);
  shuffle(ranked, random);
  std::vector<std::uint64_t> ends(count);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i)
    ends[i] = total += 1 + static_cast<std::uint64_t>(0x1p32 * std::pow(static_cast<double>(i + 1), -routing.exponent));
  std::vector<std::int64_t> drawn(count);
  for (std::int64_t i = 0; i < rows; ++i)
    ++drawn[ranked[static_cast<std::size_t>(std::ranges::upper_bound(ends, random.below(total)) - ends.begin())]];
  return drawn;
}

std::string routing_of_list(std::span<const std::int64_t> rows) {
  const auto [least, most] = std::ranges::minmax(rows);
  std::uint64_t sum = 0;
  for (const std::int64_t each : rows) sum = Random(sum ^ static_cast<std::uint64_t>(each)).next();
  return fmt::format("listed {}-{} {:08x}", least, most, sum >> 32);
}

}  // namespace tune

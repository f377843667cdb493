#include "model/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/values/random.h"
#include "model/values/text.h"

namespace tune {
namespace {

constexpr std::string_view kZipf = "zipf ", kSeed = " seed ";
constexpr double kMostExponent = 10;

}  // namespace

std::optional<Routing> parse_routing(std::string_view text) {
  if (text == "even") return Routing{};
  Routing drawn{.even = false};
  if (const std::size_t at = text.find(kSeed); at != std::string_view::npos) {
    const auto seed = number_from<std::uint64_t>(text.substr(at + kSeed.size()));
    if (!seed) return std::nullopt;
    drawn.seed = *seed;
    text = text.substr(0, at);
  }
  if (text == "uniform") return drawn;
  if (!text.starts_with(kZipf)) return std::nullopt;
  drawn.exponent = number_from<double>(text.substr(kZipf.size())).value_or(0);
  return drawn.exponent > 0 && drawn.exponent <= kMostExponent ? std::optional(drawn) : std::nullopt;
}

std::string to_text(const Routing& routing) {
  if (routing.even) return "even";
  std::string text = routing.exponent == 0 ? "uniform" : fmt::format("{}{}", kZipf, routing.exponent);
  return routing.seed == 0 ? text : fmt::format("{}{}{}", text, kSeed, routing.seed);
}

std::vector<std::int64_t> draw_rows(const Routing& routing, std::int64_t rows, std::int64_t groups) {
  const auto count = static_cast<std::size_t>(groups);
  if (routing.even) {
    std::vector<std::int64_t> even(count, rows / groups);
    for (std::int64_t i = 0; i < rows % groups; ++i) ++even[static_cast<std::size_t>(i)];
    return even;
  }
  Random random(routing.seed);
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

#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How many rows the groups of a product have.
namespace tune {

/// A rule for them. even: all have as many, or one more. The others draw a group for each row: uniform, with the same
/// probability for all; `zipf S`, with one that falls with the group's rank to the power of S. The ranks are drawn,
/// too. `seed N` behind these draws other rows, which do not depend on anything else.
struct Routing {
  bool even = true;
  double exponent = 0;  ///< of zipf; 0: uniform
  std::uint64_t seed = 0;
};

/// nullopt: it is none. The exponent is above 0 and at most 10.
std::optional<Routing> parse_routing(std::string_view text);
std::string to_text(const Routing& routing);

/// The rows of each of `groups`, `rows` together.
std::vector<std::int64_t> draw_rows(const Routing& routing, std::int64_t rows, std::int64_t groups);

/// What stands for the rule where rows are listed: their range and a number that tells lists apart, such as
/// `listed 0-2002 1a2b3c4d`.
std::string routing_of_list(std::span<const std::int64_t> rows);
inline bool is_of_list(std::string_view routing) { return routing.starts_with("listed"); }

}  // namespace tune

#include "model/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tune::routing_test {
namespace {

std::vector<std::int64_t> drawn(const char* routing, std::int64_t rows, std::int64_t groups, std::uint64_t seed = 0) {
  Routing rule = *parse_routing(routing);
  rule.seed = seed;
  return draw_rows(rule, rows, groups);
}

TEST(Routing, HasItsName) {
  for (const char* text : {"even", "uniform", "zipf 1.2", "zipf 1", "zipf 0.5"})
    EXPECT_EQ(to_text(*parse_routing(text)), text);
  EXPECT_EQ(to_text(*parse_routing("zipf 1.0")), "zipf 1");
  for (const char* text : {"uniform seed 7", "zipf 1.2 seed 18446744073709551615"})
    EXPECT_EQ(to_text(*parse_routing(text)), text);
  EXPECT_EQ(to_text(*parse_routing("uniform seed 0")), "uniform");
  for (const char* text : {"", "zipf", "zipf ", "zipf x", "zipf 1x", "zipf 0", "zipf -1", "zipf 11", "zipf nan", "Even",
                           "even seed 1", "uniform seed", "uniform seed -1", "zipf seed 1"})
    EXPECT_FALSE(parse_routing(text)) << text;
}

TEST(Routing, EvenGroupsDifferByOneRowAtMost) {
  EXPECT_EQ(drawn("even", 8, 4), (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_EQ(drawn("even", 10, 4), (std::vector<std::int64_t>{3, 3, 2, 2}));
  EXPECT_EQ(drawn("even", 1, 3), (std::vector<std::int64_t>{1, 0, 0}));
}

TEST(Routing, TheSeedDecidesAndAllRowsAreDealtOut) {
  for (const char* routing : {"uniform", "zipf 1.2"})
    for (const std::int64_t groups : {1, 7, 64}) {
      const auto rows = drawn(routing, 1000, groups, 5);
      EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), 1000);
      EXPECT_EQ(std::ssize(rows), groups);
      EXPECT_EQ(rows, drawn(routing, 1000, groups, 5));
      EXPECT_EQ(rows == drawn(routing, 1000, groups, 6), groups == 1);
    }
}

/// Of 64,000 rows, one in 64 is 1000 with a standard deviation of 31. Of zipf's weights, 1/4.74 is the first group's
/// and half of it the second's.
TEST(Routing, RowsFollowTheRule) {
  const auto even = drawn("uniform", 64000, 64);
  EXPECT_GT(*std::ranges::min_element(even), 850);
  EXPECT_LT(*std::ranges::max_element(even), 1150);
  auto skewed = drawn("zipf 1", 64000, 64);
  EXPECT_FALSE(std::ranges::is_sorted(skewed, std::greater())) << "any group may be the largest";
  std::ranges::sort(skewed, std::greater());
  EXPECT_NEAR(static_cast<double>(skewed[0]), 64000 / 4.744, 500);
  EXPECT_NEAR(static_cast<double>(skewed[1]), 32000 / 4.744, 400);
}

TEST(Routing, AListIsKnownByItsRangeAndANumber) {
  const std::vector<std::int64_t> rows = {512, 0, 37}, others = {0, 512, 37};
  EXPECT_TRUE(routing_of_list(rows).starts_with("listed 0-512 "));
  EXPECT_TRUE(is_of_list(routing_of_list(rows)));
  EXPECT_NE(routing_of_list(rows), routing_of_list(others));
  EXPECT_FALSE(parse_routing(routing_of_list(rows))) << "no rule makes it";
}

}  // namespace
}  // namespace tune::routing_test

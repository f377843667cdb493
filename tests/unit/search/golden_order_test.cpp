#include <gtest/gtest.h>

#include <map>

#include "search/strategies.h"
#include "support/landscape.h"

namespace tune::golden_order_test {
namespace {

// The order of the first 150 points, each told before the next, as one number.
std::uint64_t order_of(const search::StrategyChoice& choice) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const auto search = search::make_search(choice, specs, 42);
  std::uint64_t hash = 0;
  for (int i = 0; i < 150; ++i) {
    const auto point = search->ask();
    search->tell(*point, tiles_cost(*point));
    hash = Random(hash ^ static_cast<std::uint64_t>(*specs.index_of(*point))).next();
  }
  return hash;
}

// This file is compiled for the oldest and for a newer instruction set; both must go the ways written here.
TEST(GoldenOrder, IsTheSameForEveryInstructionSet) {
  const std::map<std::string, std::uint64_t> golden = {
      {"auto", 18066726162378973026u},      {"bayes", 13695865651214270894u}, {"genetic", 12704791523914476317u},
      {"annealing", 17463830960844232720u}, {"random", 2495300177102495459u}, {"exhaustive", 15333474697149712289u},
  };
  for (const search::StrategyChoice& choice : search::strategies()) {
    ASSERT_TRUE(golden.contains(choice.name)) << choice.name;
    EXPECT_EQ(order_of(choice), golden.at(choice.name)) << choice.name;
  }
}

}  // namespace
}  // namespace tune::golden_order_test

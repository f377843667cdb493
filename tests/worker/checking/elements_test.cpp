#include "checking/elements.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace tune::elements_test {
namespace {

TEST(Elements, RoundToNearestEven) {
  EXPECT_EQ(worker::rounded<worker::Bf16>(1.0).bits, 0x3f80);
  EXPECT_EQ(worker::rounded<worker::Bf16>(1.0 + 0x1p-8).bits, 0x3f80) << "a tie goes to the even neighbour";
  EXPECT_EQ(worker::rounded<worker::Bf16>(1.0 + 3 * 0x1p-8).bits, 0x3f82) << "a tie goes to the even neighbour";
  EXPECT_EQ(worker::rounded<worker::Bf16>(1.0 + 0x1.1p-8).bits, 0x3f81);
  EXPECT_EQ(worker::rounded<worker::Bf16>(-0x1.ffp0).bits, 0xc000) << "the carry goes into the exponent";
  EXPECT_EQ(worker::to_double(worker::rounded<worker::Tf32>(1.0 + 0x1p-11)), 1.0);
  EXPECT_EQ(worker::to_double(worker::rounded<worker::Half>(2049.0)), 2048.0);
  EXPECT_EQ(worker::to_double(worker::rounded<worker::Half>(2051.0)), 2052.0);
}

TEST(Elements, EveryHalfIsReadAndRoundedAsTheCompilerDoesIt) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const worker::Half half{static_cast<std::uint16_t>(bits)};
    const auto expected = static_cast<double>(std::bit_cast<_Float16>(half.bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(worker::to_double(half)));
      continue;
    }
    EXPECT_EQ(worker::to_double(half), expected);
    for (const double factor : {1.0, 1 + 0x1p-11, 1 + 0x1p-12, 1 + 3 * 0x1p-12}) {
      const auto value = static_cast<float>(expected * factor);
      EXPECT_EQ(worker::to_double(worker::round_to_half(value)), static_cast<double>(static_cast<_Float16>(value)))
          << value;
    }
  }
}

}  // namespace
}  // namespace tune::elements_test

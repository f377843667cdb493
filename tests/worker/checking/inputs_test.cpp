#include "checking/inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "checking/elements.h"
#include "checking/generator.h"

namespace tune::inputs_test {
namespace {

// Written down once: every backend must make these very numbers, and recorded references rest on them.
TEST(Inputs, AreTheSameNumbersForEver) {
  const auto key = generator::key(1, 2);
  EXPECT_EQ(key, 0x6e96dcf4fab47f5eULL);
  EXPECT_EQ(generator::Uniform::at(key, 0), 0x1.61bab08ecc1p-7);
  EXPECT_EQ(generator::Uniform::at(key, 1'000'000), 0x1.cf3ee3f7c4e1p-4);
  EXPECT_EQ(generator::Normal::at(key, 3), -0x1.306e4845p+0);
  EXPECT_EQ(generator::Trig::at(key, 3), -0x1.13e75e6p-1);
}

std::vector<double> values(Init init, Type type, std::int64_t count, std::uint64_t buffer = 0) {
  std::vector<double> result(static_cast<std::size_t>(count));
  worker::generate({type, worker::source_of(init), 42, buffer}, 0, count, result.data());
  return result;
}

TEST(Inputs, HaveTheDistributionTheyAreNamedAfter) {
  constexpr std::int64_t kCount = 100'000;
  for (const auto& [init, variance, bound] : {std::tuple(Init::uniform, 1.0 / 3, 1.0),
                                              {Init::hpl, 1.0 / 12, 0.5},
                                              {Init::normal, 1.0, 6.0},
                                              {Init::trig, 0.5, 1 + 0x1p-29}}) {
    const auto x = values(init, Type::f64, kCount);
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / kCount;
    double squares = 0;
    for (const double value : x) {
      squares += value * value;
      EXPECT_LE(std::fabs(value), bound);
    }
    EXPECT_NEAR(mean, 0, 0.01);
    EXPECT_NEAR(squares / kCount, variance, 0.02);
  }
}

TEST(Inputs, TrigIsASine) {
  for (int i = -1000; i <= 1000; ++i) {
    const int half_turns = i * 2'000'000;
    EXPECT_NEAR(generator::Trig::sine(half_turns), std::sin(M_PI * half_turns / 0x1p31), 1e-3);
  }
}

TEST(Inputs, IotaCountsAsFarAsTheTypeCanWithoutGaps) {
  const auto bf16 = values(Init::iota, Type::bf16, 600);
  EXPECT_EQ(bf16[255], 255);
  EXPECT_EQ(bf16[256], 0);
  EXPECT_EQ(values(Init::iota, Type::s32, 600)[599], 599);
}

TEST(Inputs, DifferBetweenSeedsAndBuffers) {
  EXPECT_NE(values(Init::uniform, Type::f32, 10, 0), values(Init::uniform, Type::f32, 10, 1));
  double other_seed = 0;
  worker::generate({Type::f32, generator::Source::uniform, 43, 0}, 0, 1, &other_seed);
  EXPECT_NE(other_seed, values(Init::uniform, Type::f32, 1)[0]);
}

TEST(Inputs, FillWritesWhatGenerateSaysInEveryType) {
  constexpr std::int64_t kCount = 200'001;  // many chunks, and more than one thread's share
  for (const Type type :
       {Type::f64, Type::f32, Type::tf32, Type::f16, Type::bf16, Type::e4m3, Type::e5m2, Type::s32, Type::s8}) {
    const worker::Content content{type, generator::Source::normal, 5, 1};
    std::vector<std::byte> data(static_cast<std::size_t>(kCount * size_of(type)));
    worker::fill(content, data.data(), kCount);
    EXPECT_EQ(worker::first_difference(content, data.data(), 0, kCount), std::nullopt);
    double part = 0;
    worker::generate(content, 150'000, 1, &part);
    worker::with_type(type, [&](auto tag) {
      EXPECT_EQ(worker::to_double(reinterpret_cast<const typename decltype(tag)::type*>(data.data())[150'000]), part);
    });
  }
}

TEST(Inputs, TheFirstOfSeveralDifferencesIsFound) {
  const worker::Content content{Type::f32, generator::Source::uniform, 5, 1};
  std::vector<float> data(300'000);
  worker::fill(content, data.data(), 300'000);
  data[1234] = data[250'000] = 7;
  EXPECT_EQ(worker::first_difference(content, data.data(), 0, 300'000), 1234);
  EXPECT_EQ(worker::first_difference(content, data.data(), 1235, 300'000 - 1235), 250'000);
}

}  // namespace
}  // namespace tune::inputs_test

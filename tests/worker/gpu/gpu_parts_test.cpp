// Parts of the GPU worker that know no device.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "gpu/vendor_race.h"
#include "measuring/power_states.h"
#include "measuring/roofline.h"
#include "model/peak.h"

namespace tune::gpu_parts_test {
namespace {

/// A card whose clock comes back by so much per rest.
class Card {
 public:
  Card(double hz, double highest, double per_rest) : hz_(hz), highest_(highest), per_rest_(per_rest) {}
  worker::BurstClock::Rest rest() {
    return [this](double) {
      ++rests_;
      return hz_ = std::min(highest_, hz_ + per_rest_);
    };
  }
  double hz_, highest_, per_rest_;
  int rests_ = 0;
};

TEST(BurstClock, TakesWhatRanAtTheClockOfShortWork) {
  Card card(1980e6, 1980e6, 0);
  worker::BurstClock clock(1980e6, card.rest());
  EXPECT_TRUE(clock.rest_unless_reached(1980e6));
  EXPECT_TRUE(clock.rest_unless_reached(1965e6));
  EXPECT_TRUE(clock.rest_unless_reached(0)) << "a device that does not tell";
  EXPECT_EQ(card.rests_, 0);
}

TEST(BurstClock, RestsUntilACappedClockIsBack) {
  Card card(1500e6, 1980e6, 100e6);
  worker::BurstClock clock(1980e6, card.rest());
  EXPECT_FALSE(clock.rest_unless_reached(1500e6));
  EXPECT_EQ(card.rests_, 5);
  EXPECT_TRUE(clock.rest_unless_reached(card.hz_));
}

TEST(BurstClock, SettlesForWhatTheDeviceGrants) {
  Card card(1200e6, 1200e6, 0);
  worker::BurstClock clock(1980e6, card.rest());
  EXPECT_FALSE(clock.rest_unless_reached(1200e6));
  EXPECT_EQ(card.rests_, worker::BurstClock::kIdleSteps);
  EXPECT_TRUE(clock.rest_unless_reached(1195e6));
  EXPECT_FALSE(clock.rest_unless_reached(1170e6));
}

/// A card on which each launch takes so many seconds, the next of these times after the other.
class LoadedCard {
 public:
  explicit LoadedCard(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  worker::SteadyLoad load() {
    const auto run = [this](std::int64_t count) {
      ++looks_;
      const double start = now_;
      for (std::int64_t i = 0; i < count; ++i) launch();
      return now_ - start;
    };
    return {run, [this] { return now_; }};
  }
  double launch() {
    const double seconds = seconds_[launches_++ % seconds_.size()];
    now_ += seconds;
    return seconds;
  }
  std::vector<double> seconds_;
  double now_ = 1000;
  std::size_t launches_ = 0;
  int looks_ = 0;
};

TEST(SteadyLoad, LastsAsLongAsAskedFor) {
  LoadedCard card({1e-3});
  card.load().apply(0.25);
  EXPECT_NEAR(card.now_ - 1000, 0.25, 2e-3);
  EXPECT_LE(card.looks_, 5) << "the device pauses at each";
}

TEST(SteadyLoad, IsOneLaunchOfALongKernel) {
  LoadedCard card({2.0});
  card.load().apply(worker::SteadyLoad::kBeforeLaunch);
  EXPECT_EQ(card.launches_, 1U);
}

TEST(SteadyLoad, LooksAtTheClockDuringManyShortLaunches) {
  LoadedCard card({1e-6});
  card.load().apply(0.01);
  EXPECT_NEAR(card.now_ - 1000, 0.01, 1e-5);
  EXPECT_GE(card.looks_, static_cast<int>(0.01 / 1e-6 / worker::SteadyLoad::kMostInARow));
}

TEST(SteadyLoad, ASampleIsTheMeanOfAClockThatGoesUpAndDown) {
  LoadedCard card({1.5e-3, 1.7e-3});
  EXPECT_NEAR(card.load().sample([&] { return card.launch(); }), 1.6e-3, 0.01e-3);
  EXPECT_NEAR(card.now_ - 1000, worker::SteadyLoad::kSample, 2e-3);
}

TEST(SteadyLoad, ASampleOfALongKernelIsOneLaunch) {
  LoadedCard card({2.0, 3.0});
  EXPECT_EQ(card.load().sample([&] { return card.launch(); }), 2.0);
  EXPECT_EQ(card.launches_, 1U);
}

/// Algorithms of given times; a negative one cannot be launched.
std::optional<int> winner(const std::vector<double>& seconds, std::map<int, int>* launches = nullptr) {
  double now = 0;
  const auto launch = [&](int algorithm, bool) -> std::optional<double> {
    if (launches) ++(*launches)[algorithm];
    const double time = 1e-3 * seconds[static_cast<std::size_t>(algorithm)];
    if (time < 0) return std::nullopt;
    now += time;
    return time;
  };
  return worker::fastest_of(static_cast<int>(seconds.size()), {launch, [&] { return now; }});
}

TEST(Race, TheFastestWins) { EXPECT_EQ(winner({3, 2, 1, 2}), 2); }

TEST(Race, TheFirstWinsUnlessAnotherIsFasterByMoreThanNoise) {
  EXPECT_EQ(winner({1.002, 1}), 0);
  EXPECT_EQ(winner({1.004, 1}), 1);
}

TEST(Race, WhatFailsIsOut) {
  EXPECT_EQ(winner({-1, 2, 3}), 1);
  EXPECT_EQ(winner({-1, -1}), std::nullopt);
  EXPECT_EQ(winner({-1, 2}), 1);
}

TEST(Race, WhatIsFarBehindIsLaunchedTwice) {
  std::map<int, int> launches;
  EXPECT_EQ(winner({1.01, 5, 1, 1.05}, &launches), 2);
  EXPECT_EQ(launches[1], 2);
  EXPECT_GT(launches[2], launches[3]);
}

TEST(Race, WhatHasLostTooOftenAgainstTheFirstLeaves) {
  std::map<int, int> launches;
  EXPECT_EQ(winner({1, 1.001, 0.99}, &launches), 2);
  EXPECT_EQ(launches[1], 1 + 3);
  EXPECT_EQ(launches[0], 1 + 11);
  EXPECT_EQ(launches[2], 1 + 11);
}

TEST(Race, NoAlgorithmIsTriedAfterTheTimeIsOver) {
  std::map<int, int> launches;
  EXPECT_EQ(winner({6000, 1}, &launches), 0);
  EXPECT_EQ(launches[1], 0);
}

Gemm gemm(Type type) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 8192;
  gemm.a = gemm.b = type;
  return gemm;
}

// By the data sheet an H200 does 989 TFLOP/s of dense bf16 at 1830 MHz.
TEST(Peak, IsWhatDataSheetsSay) {
  const auto expect = [](double peak, double of_the_sheet) { EXPECT_NEAR(peak / of_the_sheet, 1, 0.01); };
  expect(peak_flops("sm_90a", 132, 1.83e9, gemm(Type::bf16)), 989e12);
  expect(peak_flops("sm_90", 132, 1.83e9, gemm(Type::e4m3)), 1979e12);
  expect(peak_flops("sm_80", 108, 1.41e9, gemm(Type::f16)), 312e12);
  expect(peak_flops("gfx90a", 110, 1.7e9, gemm(Type::f16)), 191e12);
  expect(peak_flops("gfx942", 304, 2.1e9, gemm(Type::e4m3)), 2615e12);
  expect(peak_flops("gfx950", 256, 2.4e9, gemm(Type::bf16)), 2517e12);
  EXPECT_EQ(peak_flops("gfx9999", 110, 1.7e9, gemm(Type::f16)), 0) << "not known, and not judged";
}

TEST(Roofline, WhatMayStayInACacheNeedsNoTime) {
  Gemm flat = gemm(Type::bf16);
  flat.m = 1;
  const double bytes = flat.bytes();
  EXPECT_TRUE(worker::faster_than_possible(flat, 0.9 * bytes / 4e12, 0, 4e12));
  EXPECT_FALSE(worker::faster_than_possible(flat, 0.9 * bytes / 4e12, 0, 4e12, 0.2 * bytes));
}

}  // namespace
}  // namespace tune::gpu_parts_test

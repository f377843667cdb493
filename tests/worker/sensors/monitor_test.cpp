// What a device says of itself, and how much energy a launch takes, with a management library and a clock of our own.
#include "sensors/monitor.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "measuring/energy.h"
#include "sensors/amd_gauges.h"
#include "sensors/nvml.h"

namespace tune::monitor_test {
namespace {

// A library that knows one card, GPU-...01, and one instance of it, MIG-...02, and answers with what stands here.
struct FakeLibrary {
  unsigned clock = 1980, memory_clock = 3201, milliwatts = 702'500, limit = 700'000, celsius = 61;
  unsigned long long throttle = 0x4 | 0x1 | 0x2, millijoules = 1'234'567;
  unsigned split = 0;
  std::map<unsigned, worker::NvmlField> fields;
  int status = 0;
};
FakeLibrary fake;

constexpr worker::Uuid uuid(unsigned char last) {
  worker::Uuid uuid{};
  uuid.back() = last;
  return uuid;
}
constexpr worker::Uuid kCard = uuid(1), kInstance = uuid(2), kStranger = uuid(3);
worker::NvmlFunctions::Device device() { return reinterpret_cast<worker::NvmlFunctions::Device>(&fake); }
worker::NvmlFunctions::Device instance() { return reinterpret_cast<worker::NvmlFunctions::Device>(&fake.split); }

worker::NvmlField milliwatts(worker::NvmlField::Type type, unsigned long long value) {
  worker::NvmlField field;
  field.type = type;
  field.wide = value;
  return field;
}

template <typename Number>
int answer(worker::NvmlFunctions::Device asked, Number value, Number* out) {
  if (asked != device()) return 2;
  *out = value;
  return fake.status;
}

worker::NvmlFunctions functions() {
  using F = worker::NvmlFunctions;
  F f;
  f.init = [] { return 0; };
  f.device_by_uuid = [](const char* text, F::Device* out) {
    *out = text == worker::uuid_text("GPU", kCard)       ? device()
           : text == worker::uuid_text("MIG", kInstance) ? instance()
                                                         : nullptr;
    return *out != nullptr ? 0 : 6;
  };
  f.mig_mode = [](F::Device d, unsigned* current, unsigned* pending) {
    *pending = 0;
    return answer(d, fake.split, current);
  };
  f.card_of = [](F::Device d, F::Device* card) {
    *card = device();
    return d == instance() ? 0 : 2;
  };
  f.clock = [](F::Device d, F::Clock which, unsigned* mhz) {
    return answer(d, which == F::kSmClock ? fake.clock : fake.memory_clock, mhz);
  };
  f.power = [](F::Device d, unsigned* out) { return answer(d, fake.milliwatts, out); };
  f.fields = [](F::Device d, int count, worker::NvmlField* field) {
    const auto known = fake.fields.find(field->id);
    if (d != device() || count != 1) return 2;
    const unsigned id = field->id;
    if (known != fake.fields.end()) *field = known->second;
    field->id = id;
    if (known == fake.fields.end()) field->status = 3;
    return fake.status;
  };
  f.power_limit = [](F::Device d, unsigned* out) { return answer(d, fake.limit, out); };
  f.temperature = [](F::Device d, F::Sensor, unsigned* out) { return answer(d, fake.celsius, out); };
  f.throttle_reasons = [](F::Device d, unsigned long long* out) { return answer(d, fake.throttle, out); };
  f.energy = [](F::Device d, unsigned long long* out) { return answer(d, fake.millijoules, out); };
  return f;
}

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override { fake = {}; }
};

TEST_F(NvmlTest, TellsClocksPowerTemperatureAndReasons) {
  const auto nvml = worker::find_nvml(functions(), kCard);
  ASSERT_NE(nvml, nullptr);
  const worker::Conditions now = nvml->conditions();
  EXPECT_EQ(now.clock_mhz, 1980);
  EXPECT_EQ(now.memory_clock_mhz, 3201);
  EXPECT_EQ(now.power_w, 702.5);
  EXPECT_EQ(now.temperature_c, 61);
  EXPECT_EQ(now.throttle, Throttle::power_cap) << "idleness and clocks that were asked for are no throttling";
  EXPECT_EQ(nvml->power_limit_w(), 700);
  EXPECT_DOUBLE_EQ(nvml->joules().value(), 1234.567);
}

TEST_F(NvmlTest, IsAbsentWithoutLibraryOrDevice) {
  EXPECT_EQ(worker::find_nvml(worker::NvmlFunctions(), kCard), nullptr);
  EXPECT_EQ(worker::find_nvml(functions(), kStranger), nullptr);
  worker::NvmlFunctions broken = functions();
  broken.init = [] { return 9; };
  EXPECT_EQ(worker::find_nvml(broken, kCard), nullptr);
}

TEST_F(NvmlTest, LeavesOutWhatItIsNotTold) {
  worker::NvmlFunctions old = functions();
  old.energy = nullptr;
  old.throttle_reasons = nullptr;
  const auto nvml = worker::find_nvml(old, kCard);
  EXPECT_FALSE(nvml->joules());
  EXPECT_FALSE(nvml->conditions().throttle);
  EXPECT_TRUE(nvml->conditions().clock_mhz);
  fake.status = 3;  // not supported
  EXPECT_FALSE(nvml->conditions().clock_mhz);
  EXPECT_FALSE(nvml->power_limit_w());
}

TEST_F(NvmlTest, PowerIsThatOfTheMomentWhereItIsTold) {
  const auto nvml = worker::find_nvml(functions(), kCard);
  auto& field = fake.fields[worker::NvmlField::kInstantPower];
  field = milliwatts(worker::NvmlField::kUnsigned, 0xffff'ffff'0000'0000 | 121'250);  // above it, what was there before
  EXPECT_EQ(nvml->conditions().power_w, 121.25);
  field = milliwatts(worker::NvmlField::kUnsignedLongLong, 98'000);
  EXPECT_EQ(nvml->conditions().power_w, 98);
  field.type = 0;
  EXPECT_EQ(nvml->conditions().power_w, 702.5) << "a type that power cannot have: the average";
  field = milliwatts(worker::NvmlField::kUnsigned, 98'000);
  field.status = 3;
  EXPECT_EQ(nvml->conditions().power_w, 702.5) << "a card that does not tell: the average";
}

TEST_F(NvmlTest, OfAnInstanceTellsWhatItSharesWithItsCard) {
  fake.split = 1;
  fake.fields[worker::NvmlField::kInstantPower] = milliwatts(worker::NvmlField::kUnsigned, 121'250);
  for (const worker::Uuid& uuid : {kInstance, kCard}) {
    const auto nvml = worker::find_nvml(functions(), uuid);
    ASSERT_NE(nvml, nullptr);
    EXPECT_EQ(nvml->conditions().clock_mhz, 1980);
    EXPECT_EQ(nvml->conditions().temperature_c, 61);
    EXPECT_EQ(nvml->conditions().throttle, Throttle::power_cap);
    EXPECT_FALSE(nvml->conditions().power_w) << "the card's, and so of other instances too";
    EXPECT_FALSE(nvml->power_limit_w());
    EXPECT_FALSE(nvml->joules());
  }
}

TEST_F(NvmlTest, IsAbsentForAnInstanceOfAnUnknownCard) {
  worker::NvmlFunctions old = functions();
  old.card_of = nullptr;
  EXPECT_EQ(worker::find_nvml(old, kInstance), nullptr);
}

TEST_F(NvmlTest, UuidsAreWrittenAsTheLibraryWritesThem) {
  const worker::Uuid bytes = {0xa9, 0x41, 0x67, 0x67, 0x16, 0x40, 0x06, 0x1f,
                              0xcf, 0x76, 0x17, 0x5b, 0x73, 0x82, 0xc2, 0x77};
  EXPECT_EQ(worker::uuid_text("GPU", bytes), "GPU-a9416767-1640-061f-cf76-175b7382c277");
}

class FakeMonitor : public worker::Monitor {
 public:
  worker::Conditions conditions() const override { return ++looks, now; }
  std::optional<double> joules() const override { return std::nullopt; }
  std::optional<double> power_limit_w() const override { return std::nullopt; }
  worker::Conditions now;
  mutable int looks = 0;
};

class ObserverTest : public testing::Test {
 protected:
  FakeMonitor monitor_;
  double clock_ = 0;
  worker::Observer observer_{&monitor_, [this] { return clock_; }};
};

TEST_F(ObserverTest, LooksNowAndThen) {
  for (; clock_ < 1; clock_ += 0.001) observer_.look();
  EXPECT_GT(monitor_.looks, 10);
  EXPECT_LE(monitor_.looks, 21);
}

TEST_F(ObserverTest, SaysWhatItSawLastAndEveryReasonToThrottle) {
  monitor_.now.clock_mhz = 1980;
  monitor_.now.throttle = Throttle::power_cap;
  observer_.look();
  clock_ += 1;
  monitor_.now = {};
  monitor_.now.clock_mhz = 1455;
  monitor_.now.throttle = Throttle::hardware;
  observer_.look();
  EXPECT_EQ(observer_.metrics(), (std::map<std::string, double>{{"clock_mhz", 1455}, {"throttle", 4 + 8}}));
  EXPECT_FALSE(observer_.saw_heat());
}

TEST_F(ObserverTest, ANewStartForgets) {
  monitor_.now.throttle = Throttle::hardware_heat;
  observer_.look();
  EXPECT_TRUE(observer_.saw_heat());
  observer_.start();
  monitor_.now.throttle = 0;
  observer_.look();
  EXPECT_FALSE(observer_.saw_heat());
}

TEST_F(ObserverTest, WithoutAMonitorNothingIsSeen) {
  worker::Observer blind(nullptr, [] { return 0.0; });
  blind.look();
  EXPECT_TRUE(blind.metrics().empty());
  EXPECT_FALSE(blind.saw_heat());
}

TEST_F(ObserverTest, WhatWasTimedInHeatIsTimedAgain) {
  int pauses = 0, runs = 0;
  const worker::CoolTimer cool(
      observer_, [this] { return clock_; }, [&](double) { ++pauses; });
  const auto time = [&] {
    monitor_.now.throttle = ++runs == 1 ? Throttle::software_heat : Throttle::power_cap;
    observer_.look();
    return runs;
  };
  EXPECT_EQ(cool.run(1, 60, time), 2) << "the second run's result";
  EXPECT_EQ(pauses, 1);
}

TEST_F(ObserverTest, AHotDeviceDoesNotHoldARunUpForever) {
  int runs = 0;
  monitor_.now.throttle = Throttle::hardware_heat;
  const worker::CoolTimer cool(
      observer_, [this] { return clock_; }, [](double) {});
  EXPECT_EQ(cool.run(1, 60, [&] { return observer_.look(), ++runs; }), 1 + worker::CoolTimer::kMostRepeats);
}

TEST_F(ObserverTest, NothingIsTimedAgainThatMightNotBeDoneInTime) {
  monitor_.now.throttle = Throttle::hardware_heat;
  const worker::CoolTimer cool(
      observer_, [this] { return clock_; }, [this](double seconds) { clock_ += seconds; });
  for (const auto& [seconds, expected] : {std::pair{0.1, 4}, {11., 4}, {12., 3}, {15., 2}, {20., 1}, {59., 1}}) {
    int runs = 0;
    clock_ = 100;
    cool.run(seconds, 160, [&, time = seconds] {
      clock_ += time;
      observer_.look();
      return ++runs;
    });
    EXPECT_EQ(runs, expected) << seconds;
    EXPECT_TRUE(runs == 1 || clock_ + seconds <= 160) << "as long again for what comes after";
  }
}

TEST_F(ObserverTest, ARepeatMayTakeLongerThanWhatWasCutShort) {
  monitor_.now.throttle = Throttle::hardware_heat;
  const worker::CoolTimer cool(
      observer_, [this] { return clock_; }, [this](double seconds) { clock_ += seconds; });
  int runs = 0;
  cool.run(15, clock_ + 30, [&] { return clock_ += 0.001, observer_.look(), ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(RocmSmi, TellsWhatTheLibraryTells) {
  ASSERT_NE(::dlopen(TUNE_FAKE_LIBRARIES "/librocm_smi64.so.7", RTLD_NOW), nullptr);
  const auto monitor = worker::find_rocm_smi("GPU-30313233-3435-3637-3839-616263646566");
  ASSERT_NE(monitor, nullptr);
  const worker::Conditions now = monitor->conditions();
  EXPECT_EQ(now.clock_mhz, 1980);
  EXPECT_EQ(now.memory_clock_mhz, 2619);
  EXPECT_EQ(now.power_w, 321.5) << "a version that tells the average alone";
  EXPECT_EQ(now.temperature_c, 61);
  EXPECT_FALSE(now.throttle);
  EXPECT_DOUBLE_EQ(monitor->joules().value(), 30.5);
  EXPECT_EQ(monitor->power_limit_w(), 700);
  EXPECT_EQ(worker::find_rocm_smi("GPU-00000000-0000-0000-0000-000000000000"), nullptr) << "another device";
}

TEST(AmdSmi, TellsWhatTheLibraryTells) {
  const std::string card = "GPU-30313233-3435-3637-3839-616263646566";
  ASSERT_NE(::dlopen(TUNE_FAKE_AMD_SMI "/libamd_smi.so.26", RTLD_NOW), nullptr);
  const auto monitor = worker::find_amd_smi(card);
  ASSERT_NE(monitor, nullptr);
  const worker::Conditions now = monitor->conditions();
  EXPECT_EQ(now.clock_mhz, 1980);
  EXPECT_EQ(now.memory_clock_mhz, 2619);
  EXPECT_EQ(now.power_w, 321) << "it does not tell the power of this moment";
  EXPECT_EQ(now.temperature_c, 61);
  EXPECT_FALSE(now.throttle);
  EXPECT_DOUBLE_EQ(monitor->joules().value(), 30.5);
  EXPECT_EQ(monitor->power_limit_w(), 700);
  EXPECT_EQ(worker::find_amd_smi("GPU-00000000-0000-0000-0000-000000000000"), nullptr) << "another device";
  const auto other = worker::find_amd_smi("GPU-30303030-3030-3030-6665-646362613938");
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(other->conditions().clock_mhz || other->conditions().power_w || other->joules()) << "it tells nothing";
}

/// A kernel on a device whose counter steps every 0.1 s, on a clock that nothing but launches moves.
class EnergyTest : public testing::Test {
 protected:
  std::optional<worker::EnergyMeter::Result> run(double limit = 0) {
    const worker::EnergyMeter meter(
        [this](std::int64_t count) {
          launches_ += count;
          const double end = clock_ + static_cast<double>(count) * seconds_;
          while (clock_ + 1e-12 < end) {
            const double step = std::min(end - clock_, 0.001);
            clock_ += step;
            joules_ += step * watts_ * (1 + wobble_ * std::sin(20 * clock_));
          }
        },
        [this]() -> std::optional<double> {
          if (!answers_) return std::nullopt;
          if (steps_ && clock_ - last_step_ >= 0.1) {
            last_step_ = std::floor(clock_ * 10) / 10;
            shown_ = joules_;
          }
          return shown_;
        },
        [this] { return clock_; });
    return meter.run(seconds_, limit);
  }

  double seconds_ = 0.0005, watts_ = 600;  ///< of the kernel
  double wobble_ = 0;                      ///< by this share its power goes up and down
  bool answers_ = true, steps_ = true;
  double clock_ = 50, joules_ = 0, shown_ = 0, last_step_ = 50;
  std::int64_t launches_ = 0;
};

TEST_F(EnergyTest, IsPowerTimesTime) {
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->joules, 0.3, 0.003);
  EXPECT_FALSE(result->stopped_early);
}

TEST_F(EnergyTest, IsOfAContinuousWindowOfASecond) {
  ASSERT_TRUE(run());
  EXPECT_GT(clock_, 51);
  EXPECT_LT(clock_, 51.5);
}

TEST_F(EnergyTest, HasAnInterval) {
  EXPECT_LT(run()->half_width, 1e-9) << "nothing varies";
  wobble_ = 0.05;
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_GT(result->half_width, 0.001);
  EXPECT_LT(result->half_width, 0.02);
  EXPECT_NEAR(result->joules, 0.3, result->half_width);
  seconds_ = 0.7;
  EXPECT_EQ(run()->half_width, 0) << "two steps tell too little";
}

TEST_F(EnergyTest, OfASlowKernelIsWholeLaunches) {
  seconds_ = 0.7;
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->joules, 420, 1);
  EXPECT_LE(launches_, 5);
}

TEST_F(EnergyTest, OfAHopelessKernelIsMeasuredNoLongerThanThatTakesToSee) {
  const auto result = run(0.2);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped_early);
  EXPECT_LT(clock_, 50.6);
  EXPECT_NEAR(result->joules, 0.3, 0.01);
}

TEST_F(EnergyTest, IsUnknownWithoutACounterThatSteps) {
  steps_ = false;
  EXPECT_FALSE(run());
  EXPECT_LT(clock_, 50 + 2 * worker::EnergyMeter::kPatience);
  answers_ = false;
  EXPECT_FALSE(run());
}

TEST_F(EnergyTest, OnlyAKernelThatWouldNeedLessThanADeviceAtRestIsHopelessByItsTime) {
  EXPECT_DOUBLE_EQ(worker::hopeless_seconds(0.7, 700), 0.01);
}

}  // namespace
}  // namespace tune::monitor_test

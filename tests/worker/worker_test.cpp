#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "backend.h"
#include "checking/compare_result.h"
#include "checking/elements.h"
#include "checking/generator.h"
#include "checking/guarded_buffer.h"
#include "checking/inputs.h"
#include "checking/multiply.h"
#include "checking/reference.h"
#include "checking/reference_file.h"
#include "cpu/sandbox/kernel_memory.h"
#include "host/core_settings.h"
#include "measuring/measure.h"
#include "platform/files/descriptor.h"
#include "platform/store/store.h"
#include "program/whole_command.h"

namespace tune::worker_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(KernelMemory, CachesOfAContainerAreFree) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tune-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(pattern.data()));
  const std::filesystem::path folder = pattern;
  EXPECT_FALSE(worker::left_in_container(folder)) << "no such files";
  std::ofstream(folder / "memory.max") << "max\n";
  EXPECT_FALSE(worker::left_in_container(folder));
  std::ofstream(folder / "memory.max") << "1000\n";
  std::ofstream(folder / "memory.current") << "900\n";
  EXPECT_EQ(worker::left_in_container(folder), 100);
  std::ofstream(folder / "memory.stat") << "anon 200\nfile 600\ninactive_anon 1\nactive_anon 2\ninactive_file "
                                           "300\nactive_file 250\nslab_reclaimable 50\n";
  EXPECT_EQ(worker::left_in_container(folder), 700);
  std::ofstream(folder / "memory.current") << "500\n";
  EXPECT_EQ(worker::left_in_container(folder), 1000) << "the files were read at different times";
  std::filesystem::remove_all(folder);
}

TEST(CoreSettings, TheSmallestShareOfAllGroupsCounts) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tune-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(pattern.data()));
  const std::filesystem::path root = pattern;
  std::filesystem::create_directories(root / "a/b");
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0) << "no such files";
  std::ofstream(root / "a/b/cpu.max") << "max 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0);
  std::ofstream(root / "a/cpu.max") << "150000 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 1.5);
  std::ofstream(root / "cpu.max") << "50000 100000\n";
  EXPECT_EQ(worker::cores_of_group(root, "a/b"), 0.5);
  EXPECT_EQ(worker::cores_of_group(root, ""), 0.5);
  std::filesystem::remove_all(root);
}

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

/// A buffer in a file of its own, all poisoned.
worker::GuardedBuffer guarded(const char* name, std::size_t bytes) {
  const platform::Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(worker::GuardedBuffer::footprint(bytes))), 0);
  worker::GuardedBuffer buffer(name, bytes, file.get(), 0);
  buffer.poison_all(worker::Poison::other);
  return buffer;
}

TEST(GuardedBuffer, FindsNothingWhereNothingWasWritten) {
  const worker::GuardedBuffer buffer = guarded("C", 10);
  std::fill_n(buffer.data(), 10, std::byte{1});
  EXPECT_EQ(buffer.intrusion(), std::nullopt);
}

TEST(GuardedBuffer, SaysWhatWasWrittenOnWhichSide) {
  const worker::GuardedBuffer behind = guarded("C", 10), before = guarded("A", 10);
  std::fill_n(behind.data() + 10, 12, std::byte{1});
  EXPECT_EQ(behind.intrusion(), "guard band hit: 12 bytes written past the end of C, first at +0");
  before.data()[-3] = std::byte{1};
  EXPECT_EQ(before.intrusion(), "guard band hit: 1 byte written before the start of A, last at -3");
}

TEST(GuardedBufferDeathTest, AWriteFarOutsideEndsTheProcess) {
  const worker::GuardedBuffer buffer = guarded("C", 10);
  volatile std::byte* const data = buffer.data();
  EXPECT_EXIT(data[1 << 20] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(data[-(1 << 20)] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardedBuffer, IsZeroForAllWhoMapItOnceItsPagesAreReleased) {
  const platform::Descriptor file(::memfd_create("buffers", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(worker::GuardedBuffer::footprint(10))), 0);
  worker::GuardedBuffer judges("C", 10, file.get(), 0);
  const worker::GuardedBuffer kernels("C", 10, file.get(), 0);
  judges.poison_all(worker::Poison::other);
  EXPECT_NE(kernels.data()[9], std::byte{0});
  judges.release_pages();
  kernels.touch_pages();
  EXPECT_EQ(kernels.data()[9], std::byte{0});
}

TEST(GuardedBuffer, IsPoisonedWithNaNOfEveryFloatType) {
  const worker::GuardedBuffer buffer = guarded("C", 64);
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const double*>(buffer.data())));
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const float*>(buffer.data())));
  EXPECT_TRUE(std::isnan(worker::to_double(*reinterpret_cast<const worker::Half*>(buffer.data()))));
  EXPECT_TRUE(std::isnan(worker::to_double(*reinterpret_cast<const worker::Bf16*>(buffer.data()))));
}

/// A small GEMM and the right answer, in C's own layout.
struct Case {
  Gemm gemm;
  std::vector<double> reference;
  std::vector<float> c;

  explicit Case(Gemm g) : gemm(worker::resolved(g)), reference(worker::compute_reference(gemm, 3)) {
    c.resize(static_cast<std::size_t>(worker::view_c(gemm).extent()));
    worker::poison(std::as_writable_bytes(std::span(c)), worker::Poison::nan);
    const auto right = worker::GemmReference(gemm, reference, 3).x;
    for (std::int64_t i = 0; i < gemm.batch * gemm.m * gemm.n; ++i)
      at(i / (gemm.m * gemm.n), i / gemm.n % gemm.m, i % gemm.n) =
          static_cast<float>(right[static_cast<std::size_t>(i)]);
  }
  float& at(std::int64_t batch, std::int64_t row, std::int64_t col) {
    return c[static_cast<std::size_t>(worker::view_c(gemm).offset(batch, row, col))];
  }
  worker::Deviation compare() const {
    return worker::compare_gemm(gemm, c.data(), worker::GemmReference(gemm, reference, 3), worker::Poison::nan);
  }
};

Gemm small_gemm() {
  Gemm gemm;
  gemm.m = 20;
  gemm.n = 30;
  gemm.k = 40;
  return gemm;
}

TEST(Check, ARightResultPasses) {
  const worker::Deviation deviation = Case(small_gemm()).compare();
  EXPECT_EQ(deviation.elements, 600);
  EXPECT_EQ(deviation.wrong, 0);
  EXPECT_LE(deviation.largest_ratio, 1);
}

TEST(Check, ANaNIsWrong) {
  Case wrong(small_gemm());
  wrong.at(0, 2, 3) = static_cast<float>(kNaN);
  const worker::Deviation deviation = wrong.compare();
  EXPECT_EQ(deviation.wrong, 1);
  EXPECT_EQ(deviation.nans, 1);
  EXPECT_EQ(deviation.unwritten, 0);
  EXPECT_TRUE(std::isinf(deviation.largest_ratio));
}

TEST(Check, AllNaNIsAllWrong) {
  Case wrong(small_gemm());
  std::fill(wrong.c.begin(), wrong.c.end(), static_cast<float>(kNaN));
  EXPECT_EQ(wrong.compare().wrong, 600);
}

TEST(Check, AnInfinityIsWrong) {
  Case wrong(small_gemm());
  wrong.at(0, 2, 3) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(wrong.compare().wrong, 1);
}

TEST(Check, UnwrittenElementsAreCounted) {
  Case wrong(small_gemm());
  worker::poison(std::as_writable_bytes(std::span(wrong.c).subspan(590, 10)), worker::Poison::nan);
  EXPECT_EQ(wrong.compare().unwritten, 10);
  EXPECT_EQ(worker::describe(wrong.compare(), "C"),
            "C was not fully written\n10 of 600 elements are wrong (1.67 %), 10 never written, or only added to, first "
            "at row "
            "19, column 20, all within row 19, columns 20-29");
}

TEST(Check, SaysHowManyHowFarAndWhere) {
  Gemm gemm = small_gemm();
  gemm.batch = 3;
  gemm.layout_c = Layout::col;
  Case wrong(gemm);
  wrong.at(1, 4, 9) = wrong.at(2, 3, 7) = 1000;
  const worker::Deviation deviation = wrong.compare();
  EXPECT_EQ(deviation.wrong, 2);
  EXPECT_NEAR(deviation.largest_error, 1000, 50);
  const std::string text = worker::describe(deviation, "C");
  EXPECT_EQ(text.substr(0, text.find('\n')), "wrong result in C");
  EXPECT_NE(text.find("first at row 4, column 9, matrix 1: 1000 instead of "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(", all within rows 3-4, columns 7-9, matrices 1-2")) << text;
}

TEST(Check, AnElementOfAListHasOneNumber) {
  const Buffer buffer{.name = "y", .type = Type::f32, .count = 6};
  const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
  const std::vector<float> computed = {1, 2, 9, 4, 9, 6};
  const worker::Deviation wrong = worker::compare_custom({}, buffer, computed.data(), expected, worker::Poison::nan);
  EXPECT_TRUE(worker::describe(wrong, "y").ends_with("first at element 2: 9 instead of 3, all within elements 2-4"))
      << worker::describe(wrong, "y");
}

TEST(Check, PaddingBetweenRowsAndMatricesMustStayAsItWas) {
  Gemm gemm = small_gemm();
  gemm.batch = 2;
  gemm.ldc = 32;
  gemm.stride_c = 32 * 20 + 7;
  Case kernel(gemm);
  const auto damage = [&kernel] {
    return worker::padding_damage("C", Type::f32, kernel.c.data(), worker::view_c(kernel.gemm), {}, std::nullopt,
                                  worker::Poison::nan);
  };
  EXPECT_EQ(damage(), std::nullopt);
  kernel.c[32 * 20 + 3] = 0;
  EXPECT_EQ(damage(), "padding of C was overwritten at element 643");
  kernel.c[31] = 0;
  EXPECT_EQ(damage(), "padding of C was overwritten at element 31");
}

TEST(Check, PaddingOfAnUpdatedMatrixMustKeepItsContent) {
  Gemm gemm = small_gemm();
  gemm.ldc = 32;
  const worker::MatrixView view = worker::view_c(worker::resolved(gemm));
  const worker::Content content{Type::f32, generator::Source::uniform, 1, 2};
  std::vector<float> c(static_cast<std::size_t>(view.extent()));
  worker::fill(content, c.data(), view.extent());
  c[0] = 5;
  EXPECT_EQ(worker::padding_damage("C", Type::f32, c.data(), view, {}, content, worker::Poison::nan), std::nullopt);
  c[30] = 5;
  EXPECT_EQ(worker::padding_damage("C", Type::f32, c.data(), view, {}, content, worker::Poison::nan),
            "padding of C was overwritten at element 30");
}

TEST(Check, InterleavedMatricesHaveNoPadding) {
  Gemm gemm = small_gemm();
  gemm.batch = 2;
  gemm.ldc = 60;
  gemm.stride_c = 30;
  Case kernel(gemm);
  EXPECT_EQ(kernel.compare().wrong, 0);
  EXPECT_EQ(worker::padding_damage("C", Type::f32, kernel.c.data(), worker::view_c(kernel.gemm), {}, std::nullopt,
                                   worker::Poison::nan),
            std::nullopt);
}

TEST(Multiply, AgreesWithTheDefinitionForAllShapesAndStrides) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1), {5, 7, 3}, {65, 9, 300}, {130, 33, 513}}) {
    const auto a = values(Init::uniform, Type::f64, m * k, 0), b = values(Init::uniform, Type::f64, k * n, 1);
    std::vector<double> product(static_cast<std::size_t>(m * n));
    worker::multiply({a.data(), 1, m}, {b.data(), n, 1}, m, n, k, product.data());
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        long double sum = 0;
        for (int p = 0; p < k; ++p) sum += static_cast<long double>(a[i + p * m]) * b[p * n + j];
        EXPECT_NEAR(product[static_cast<std::size_t>(i * n + j)], static_cast<double>(sum), 1e-12);
      }
  }
}

class ReferenceFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tune-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
    path_ = folder_ / "reference";
    worker::write_reference(path_, Problem(), identity_, values_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string refusal(const std::string& identity) const {
    try {
      const worker::ReferenceFile file(path_, identity);
    } catch (const worker::SpecFailure& refused) {
      const std::string text = refused.what();
      return text.substr(text.rfind(": ") + 2);
    }
    return "accepted";
  }

  std::filesystem::path folder_, path_;
  std::string identity_ = worker::reference_identity(small_gemm(), 1);
  std::vector<double> values_ = {1, 2, 3, 4};
};

TEST_F(ReferenceFiles, HoldWhatWasWrittenForTheirOwnerOnly) {
  const worker::ReferenceFile file(path_, identity_);
  EXPECT_EQ(file.values().size(), 4U);
  EXPECT_EQ(file.values()[3], 4);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(ReferenceFiles, HoldNumbersOnly) {
  for (const double odd : {HUGE_VAL, -HUGE_VAL, kNaN}) {
    values_[2] = odd;
    EXPECT_THROW(worker::write_reference(path_, Problem(), identity_, values_), worker::SpecFailure) << odd;
  }
}

TEST_F(ReferenceFiles, OfAnotherProblemOrSeedAreRefused) {
  EXPECT_EQ(refusal(worker::reference_identity(small_gemm(), 2)), "it belongs to another problem or seed");
  Gemm other = small_gemm();
  other.beta = 1;
  EXPECT_EQ(refusal(worker::reference_identity(other, 1)), "it belongs to another problem or seed");
}

TEST_F(ReferenceFiles, ThatAreDamagedAreRefused) {
  const std::string bytes = platform::read_file(path_);
  const auto with = [&](std::string text) {
    std::ofstream(path_, std::ios::binary) << text;
    return refusal(identity_);
  };
  std::string flipped = bytes;
  flipped.back() ^= 1;
  EXPECT_EQ(with(flipped), "its checksum is wrong");
  EXPECT_EQ(with(bytes.substr(0, bytes.size() - 8)), "it is cut short");
  EXPECT_EQ(with(bytes.substr(0, 10)), "it is cut short");
  std::string other = bytes;
  other.front() = 'X';
  EXPECT_EQ(with(other), "it is no reference file of this version");
}

/// A kernel whose launches take what the test says, on a clock that nothing else moves.
class SamplerTest : public testing::Test {
 protected:
  Timing run(const wire::Go& go, double first, std::function<double(int)> seconds) {
    launches_ = 0;
    worker::Sampler sampler(
        rules_, go,
        [this, seconds] {
          const double time = seconds(launches_++);
          clock_ += time;
          return time;
        },
        [this] { return clock_; }, first_);
    return sampler.run(first);
  }
  Timing run(double best, double first, std::function<double(int)> seconds) {
    return run(wire::Go{.best_seconds = best}, first, std::move(seconds));
  }

  MeasureRules rules_;
  worker::Sampler::First first_;
  double clock_ = 100;
  int launches_ = 0;
};

TEST_F(SamplerTest, ASteadyKernelIsLaunchedTheLeastAllowed) {
  const Timing timing = run(0, 0.01, [](int) { return 0.01; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_EQ(launches_, rules_.warmup - 1 + rules_.min_launches) << "the checked launch warms up too";
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, WarmUpIsNotCounted) {
  const Timing checked = run(0, 0.01, [this](int i) { return i < rules_.warmup - 1 ? 9.0 : 0.01; });
  EXPECT_EQ(checked.mean, 0.01);
  const Timing unchecked = run(0, 0, [this](int i) { return i < rules_.warmup ? 9.0 : 0.01; });
  EXPECT_EQ(unchecked.mean, 0.01);
}

TEST_F(SamplerTest, ANoisyKernelIsLaunchedUntilTheMedianIsKnown) {
  // Evenly spread over 10 %: the interval of the median narrows with the root of the count.
  const Timing timing = run(0, 0.001, [](int i) { return 0.001 * (1 + 0.1 * (i * 37 % 100) / 100); });
  EXPECT_GT(timing.count, 3 * rules_.min_launches);
  EXPECT_LE(timing.ci_high - timing.median, 0.01 * timing.median);
  EXPECT_LE(timing.median - timing.ci_low, 0.01 * timing.median);
}

// 32 ns are 1.1 % of its time, and with a clock of such steps no further launch would tell more.
TEST_F(SamplerTest, AnIntervalOfOneStepOfTheClockIsNarrowEnough) {
  const auto launch = [](int i) { return i * 7 % 9 < 4 ? 2.88e-6 : 2.912e-6; };
  EXPECT_GT(run(0, 2.88e-6, launch).count, rules_.min_launches);
  first_.step = 33e-9;
  EXPECT_EQ(run(0, 2.88e-6, launch).count, rules_.min_launches);
}

TEST_F(SamplerTest, ANoisyKernelThatCannotWinIsLaunchedTheLeastAllowed) {
  const Timing timing = run(0.0009, 0.001, [](int i) { return 0.001 * (1 + 0.1 * (i * 37 % 100) / 100); });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, TimeRunsOutBeforePrecision) {
  const Timing timing = run(0, 0.01, [](int i) { return i % 2 == 0 ? 0.01 : 0.02; });
  EXPECT_GE(timing.count, 60);
  EXPECT_LE(timing.count, 70);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, TimeRunsOutBeforeTheLeastLaunches) {
  const Timing timing = run(0, 0.6, [](int) { return 0.6; });
  EXPECT_EQ(timing.count, 2);
  EXPECT_FALSE(timing.stopped_early) << "it was timed as long as asked for";
}

TEST_F(SamplerTest, AFirstLaunchOfMoreThanFourTimesTheBestIsTheOnlyOne) {
  const Timing timing = run(0.1, 0.41, [](int) { return 0.41; });
  EXPECT_EQ(launches_, 0);
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, AShortFirstLaunchIsRepeatedBeforeItCounts) {
  Timing timing = run(0.001, 0.01, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "the first launch started a thread pool";
  timing = run(0.001, 0.01, [](int i) { return i < 2 ? 0.006 : 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "other processes took the cores for a while";
  timing = run(0.001, 0.01, [](int i) { return i == 2 ? 0.005 : 0.006; });
  EXPECT_EQ(launches_, 4) << "of 20 ms";
  EXPECT_EQ(timing.median, 0.005);
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, ASlowFirstLaunchMakesThreeDecide) {
  Timing timing = run(0.1, 0.16, [](int) { return 0.17; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.1, 0.16, [](int) { return 0.1; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, ASlowSpecIsTimedNoLongerThanOthers) {
  rules_.max_seconds = 0.15;
  const Timing timing = run(0.1, 0.16, [](int) { return 0.17; });
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, OfThreeSlowLaunchesTheFastestDecides) {
  // Another process took the cores during two of them.
  const Timing timing = run(0.1, 0.16, [](int launch) { return launch == 1 ? 0.17 : 0.1; });
  EXPECT_FALSE(timing.stopped_early);
  EXPECT_EQ(timing.median, 0.1);
}

TEST_F(SamplerTest, TheCutoffStopsSamplingToo) {
  const Timing timing = run(0.1, 0.1, [this](int i) { return i < rules_.warmup - 1 ? 0.1 : 0.16; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, WithoutACutoffEverySpecIsTimedInFull) {
  rules_.cutoff = 0;
  const Timing timing = run(0.001, 0.1, [](int) { return 0.1; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, AnUncheckedKernelIsCutOffToo) {
  const Timing timing = run(0.1, 0, [](int) { return 1.0; });
  EXPECT_EQ(launches_, 1);
  EXPECT_TRUE(timing.stopped_early);
}

// As on a GPU.
TEST_F(SamplerTest, OnAGpuTwoLaunchesDecideThatLoadedNoCode) {
  first_ = {0, 2, 0.001};
  Timing timing = run(0.01, 0.017, [](int) { return 0.01; });
  EXPECT_EQ(launches_, 0) << "the faster of two is too slow, even without the loading of the code";
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.001, 0.0016, [](int) { return 0.0017; });
  EXPECT_EQ(timing.count, 2);
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.001, 0.0016, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "another program had the device during the first";
  timing = run(0.001, 0.0014, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early);
  EXPECT_EQ(launches_, rules_.min_launches) << "the others have warmed up";
}

TEST_F(SamplerTest, OnAGpuThreeLaunchesTellThatASpecIsNoFinalist) {
  first_ = {0, 2};
  Timing timing = run(0.001, 0.00125, [](int) { return 0.00125; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_FALSE(timing.stopped_early);
  timing = run(0.001, 0.00125, [](int launch) { return launch == 1 ? 0.0011 : 0.00125; });
  EXPECT_EQ(timing.count, rules_.min_launches) << "one of them was faster";
  first_ = {};
  timing = run(0.001, 0.00125, [](int) { return 0.00125; });
  EXPECT_EQ(timing.count, rules_.min_launches) << "on the CPU, where other processes may have taken the cores";
}

TEST(DecidesAlone, BeyondFourTimesTheBest) {
  const MeasureRules rules;
  EXPECT_TRUE(worker::decides_alone(rules, {.best_seconds = 0.001}, 0.0041));
  EXPECT_FALSE(worker::decides_alone(rules, {.best_seconds = 0.001}, 0.0039));
  EXPECT_FALSE(worker::decides_alone(rules, {}, 1)) << "nothing to be slower than";
}

TEST_F(SamplerTest, AnExactCountIsKeptWhateverTheTimes) {
  const Timing timing =
      run(wire::Go{.launches = 20, .best_seconds = 0.001, .check = wire::Go::Check::no}, 0, [](int) { return 1.0; });
  EXPECT_EQ(timing.count, 20);
  EXPECT_EQ(launches_, 20 + rules_.warmup);
  EXPECT_FALSE(timing.stopped_early);
}

platform::ResourceUse ran(double seconds, double waited, double computed) {
  platform::ResourceUse use;
  use.seconds = seconds;
  use.cpu_seconds = computed;
  use.waited_seconds = waited;
  return use;
}

TEST(WholeCommand, TakesTheTimeInWhichItHasACore) {
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 1, 1)), 1);
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 0.1)), 1.5) << "it sleeps for most of the time";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 1.8)), 1.8) << "another thread went on for a while";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 3)), 2) << "its other threads went on meanwhile";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.02, 1.9)), 2) << "as long as undisturbed ones wait";
}

TEST(WholeCommand, IsMeasuredWithoutItsWaitsForACore) {
  MeasureRules rules;
  rules.warmup = 0;
  int runs = 0;
  worker::WholeCommand command(rules, [&] {
    const double waited = 0.1 * ++runs;
    return ran(1 + waited, waited, 1);
  });
  EXPECT_DOUBLE_EQ(command.measure({}).timing.median, 1);
  EXPECT_DOUBLE_EQ(command.measure({.launches = 1}).timing.median, 1) << "in the finals";
}

}  // namespace
}  // namespace tune::worker_test

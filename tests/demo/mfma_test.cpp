// demo/gemm_mfma.hip on the host, with every instruction it uses: whatever its parameters are, it multiplies right, and
// it would not if the elements of a matrix were in other lanes or registers.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "demo/mfma_emulator.h"

#define CASE F16Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 32
#define GROUP_SIZE_M 2
#define SPLIT_K 2
#define num_warps 4
#define WAVES_M 2
#define num_stages 3
#define matrix_instr_nonkdim 32
#define kpack 2
#define type_a_f16 1
#include "demo/mfma_case.h"
#define CASE F16Of16
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 64
#define GROUP_SIZE_M 1
#define SPLIT_K 1
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 2
#define type_a_f16 1
#define type_c_f16 1
#include "demo/mfma_case.h"
#define CASE Bf16Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 1
#define SPLIT_K 4
#define num_warps 1
#define WAVES_M 1
#define num_stages 1
#define matrix_instr_nonkdim 32
#define kpack 1
#define type_a_bf16 1
#define type_c_bf16 1
#include "demo/mfma_case.h"
#define CASE Bf16Of16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 2
#define SPLIT_K 1
#define num_warps 2
#define WAVES_M 1
#define num_stages 0
#define matrix_instr_nonkdim 16
#define kpack 1
#define type_a_bf16 1
#include "demo/mfma_case.h"
#define CASE F32Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 8
#define GROUP_SIZE_M 1
#define SPLIT_K 2
#define num_warps 2
#define WAVES_M 1
#define num_stages 3
#define matrix_instr_nonkdim 32
#define kpack 4
#define type_a_f32 1
#include "demo/mfma_case.h"
#define CASE F32Of16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 4
#define GROUP_SIZE_M 3
#define SPLIT_K 1
#define num_warps 2
#define WAVES_M 2
#define num_stages 1
#define matrix_instr_nonkdim 16
#define kpack 1
#define type_a_f32 1
#include "demo/mfma_case.h"
#define CASE MoreThreadsThanPacks
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 1
#define SPLIT_K 1
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 1
#define type_a_f16 1
#define type_c_f16 1
#include "demo/mfma_case.h"
#define __gfx908__
#define CASE OldBf16Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 2
#define SPLIT_K 1
#define num_warps 2
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 32
#define kpack 2
#define type_a_bf16 1
#include "demo/mfma_case.h"
#define CASE OldBf16Of16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 1
#define SPLIT_K 2
#define num_warps 4
#define WAVES_M 2
#define num_stages 3
#define matrix_instr_nonkdim 16
#define kpack 1
#define type_a_bf16 1
#include "demo/mfma_case.h"
#undef __gfx908__
#define __gfx942__
#define CASE FnuzOf32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 32
#define GROUP_SIZE_M 1
#define SPLIT_K 2
#define num_warps 2
#define WAVES_M 2
#define num_stages 3
#define matrix_instr_nonkdim 32
#define kpack 2
#define type_a_e4m3 1
#include "demo/mfma_case.h"
#define CASE FnuzOf16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 64
#define GROUP_SIZE_M 2
#define SPLIT_K 1
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 4
#define type_a_e4m3 1
#define type_c_bf16 1
#include "demo/mfma_case.h"
#undef __gfx942__
#define __gfx950__
#define CASE Fp8Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 64
#define GROUP_SIZE_M 2
#define SPLIT_K 1
#define num_warps 2
#define WAVES_M 2
#define num_stages 1
#define matrix_instr_nonkdim 32
#define kpack 4
#define type_a_e4m3 1
#define type_c_f16 1
#include "demo/mfma_case.h"
#define CASE Fp8Of16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 32
#define GROUP_SIZE_M 1
#define SPLIT_K 2
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 2
#define type_a_e4m3 1
#include "demo/mfma_case.h"
#define CASE DeepF16Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 32
#define GROUP_SIZE_M 2
#define SPLIT_K 2
#define num_warps 4
#define WAVES_M 2
#define num_stages 3
#define matrix_instr_nonkdim 32
#define kpack 2
#define type_a_f16 1
#include "demo/mfma_case.h"
#define CASE DeepF16Of16
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 64
#define GROUP_SIZE_M 1
#define SPLIT_K 1
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 2
#define type_a_f16 1
#define type_c_f16 1
#include "demo/mfma_case.h"
#define CASE DeepBf16Of32
#define BLOCK_SIZE_M 64
#define BLOCK_SIZE_N 64
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 1
#define SPLIT_K 4
#define num_warps 1
#define WAVES_M 1
#define num_stages 1
#define matrix_instr_nonkdim 32
#define kpack 2
#define type_a_bf16 1
#define type_c_bf16 1
#include "demo/mfma_case.h"
#define CASE DeepBf16Of16
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 32
#define GROUP_SIZE_M 2
#define SPLIT_K 1
#define num_warps 2
#define WAVES_M 1
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 2
#define type_a_bf16 1
#include "demo/mfma_case.h"
#define CASE ShallowF16Of950
#define BLOCK_SIZE_M 32
#define BLOCK_SIZE_N 32
#define BLOCK_SIZE_K 16
#define GROUP_SIZE_M 1
#define SPLIT_K 1
#define num_warps 4
#define WAVES_M 2
#define num_stages 2
#define matrix_instr_nonkdim 16
#define kpack 1
#define type_a_f16 1
#include "demo/mfma_case.h"
#undef __gfx950__

namespace tune::emulator::mfma_test {
namespace {

// Not multiples of any tile; k has to be one.
constexpr int kM = 72, kN = 40, kK = 64;

/// -1, 0 or 1, so that all sums are exact in every type.
std::vector<int> small_numbers(int count, unsigned seed) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    numbers.push_back(static_cast<int>(seed >> 16) % 3 - 1);
  }
  return numbers;
}

template <typename Element>
std::vector<Element> elements_of(const std::vector<int>& numbers) {
  std::vector<Element> elements;
  for (const int number : numbers) {
    if constexpr (std::is_same_v<Element, short>)
      elements.push_back(static_cast<short>(number == 0 ? 0 : number > 0 ? 0x3f80 : 0xbf80));
    else if constexpr (std::is_same_v<Element, unsigned char>)  // some zeros are -0
      elements.push_back(static_cast<unsigned char>(number > 0                 ? 0x38
                                                    : number < 0               ? 0xb8
                                                    : elements.size() % 2 == 0 ? 0x80
                                                                               : 0));
    else
      elements.push_back(static_cast<Element>(number));
  }
  return elements;
}

float number_of(unsigned short bits) { return value_of(static_cast<short>(bits)); }
float number_of(float value) { return value; }
float number_of(_Float16 value) { return static_cast<float>(value); }

/// How many elements of C are wrong. A is row-major, B column-major.
template <typename Case>
int wrong_elements() {
  fp8_is_fnuz = Case::fp8_is_fnuz;
  const std::vector<int> a = small_numbers(kM * kK, 1), b = small_numbers(kN * kK, 2);
  const auto a_elements = elements_of<typename Case::Element>(a), b_elements = elements_of<typename Case::Element>(b);
  std::vector<typename Case::Result> c(kM * kN);
  std::vector<float> partial(Case::splits > 1 ? kM * kN * Case::splits : 0);
  const std::function<void()> kernel = [&] {
    Case::kernel(a_elements.data(), b_elements.data(), c.data(), partial.data(), kM, kN, kK, Case::group, Case::splits);
  };
  constexpr unsigned kTiles = (kM + Case::rows - 1) / Case::rows * ((kN + Case::cols - 1) / Case::cols);
  for (unsigned y = 0; y < Case::splits; ++y)
    for (unsigned x = 0; x < kTiles; ++x) {
      block_index = {x, y, 0};
      Block(Case::threads, kernel).run();
    }
  const std::function<void()> reduction = [&] { Case::reduction(partial.data(), c.data(), kM, kN, Case::splits); };
  for (unsigned x = 0; Case::splits > 1 && x < (kM * kN + 255) / 256; ++x) {
    block_index = {x, 0, 0};
    Block(256, reduction).run();
  }
  int wrong = 0;
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      int sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += a[static_cast<std::size_t>(i * kK + k)] * b[static_cast<std::size_t>(j * kK + k)];
      wrong += number_of(c[static_cast<std::size_t>(i * kN + j)]) != static_cast<float>(sum) ? 1 : 0;
    }
  return wrong;
}

template <typename Case>
class Mfma : public testing::Test {
 protected:
  int wrong_with(Mistake what) const {
    mistake = what;
    const int wrong = wrong_elements<Case>();
    mistake = Mistake::none;
    return wrong;
  }
};

using Cases = testing::Types<F16Of32, F16Of16, Bf16Of32, Bf16Of16, F32Of32, F32Of16, MoreThreadsThanPacks, OldBf16Of32,
                             OldBf16Of16, FnuzOf32, FnuzOf16, Fp8Of32, Fp8Of16, DeepF16Of32, DeepF16Of16, DeepBf16Of32,
                             DeepBf16Of16, ShallowF16Of950>;
TYPED_TEST_SUITE(Mfma, Cases);

TYPED_TEST(Mfma, MultipliesRight) { EXPECT_EQ(this->wrong_with(Mistake::none), 0); }

TYPED_TEST(Mfma, DependsOnWhereElementsOfTheResultAre) {
  EXPECT_GT(this->wrong_with(Mistake::rows_of_d), kM * kN / 4);
  EXPECT_GT(this->wrong_with(Mistake::columns_of_d), kM * kN / 4);
}

TYPED_TEST(Mfma, DependsOnWhichElementsOfAAndBMeet) {
  EXPECT_GT(this->wrong_with(Mistake::lanes_of_a), kM * kN / 4);
  if (sizeof(typename TypeParam::Element) < 4) {
    EXPECT_GT(this->wrong_with(Mistake::items_of_b), kM * kN / 4);
  }
}

TEST(Emulator, ReadsBothKindsOfE4m3) {
  EXPECT_EQ(value_of_e4m3(0x38, false), 1);
  EXPECT_EQ(value_of_e4m3(0x7e, false), 448);
  EXPECT_EQ(value_of_e4m3(0x01, false), std::ldexp(1.0F, -9));
  EXPECT_EQ(value_of_e4m3(0xff, true), -240);
  EXPECT_EQ(value_of_e4m3(0x40, true), 1);
  EXPECT_TRUE(std::isnan(value_of_e4m3(0x80, true)));
  EXPECT_TRUE(std::isnan(value_of_e4m3(0xff, false)));
}

TEST(Emulator, SaysWhenThreadsWaitForever) {
  const std::function<void()> kernel = [] {
    if (block->thread() != 5) block->wait(0, 128);
  };
  EXPECT_THROW(Block(128, kernel).run(), std::logic_error);
}

}  // namespace
}  // namespace tune::emulator::mfma_test

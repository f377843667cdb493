// What the device computes with, compiled for the host and held against what the host computes with.
#include "checking/gpu_elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "checking/elements.h"
#include "checking/inputs.h"

namespace tune::gpu_elements_test {
namespace {

constexpr Type kHostTypes[] = {Type::f64,  Type::f32,  Type::tf32, Type::f16, Type::bf16,
                               Type::e4m3, Type::e5m2, Type::s32,  Type::s8};
constexpr gpu::Source kSources[] = {gpu::Source::uniform, gpu::Source::normal, gpu::Source::hpl,   gpu::Source::trig,
                                    gpu::Source::zeros,   gpu::Source::iota,   gpu::Source::scales};

gpu::Element element(Type type) { return static_cast<gpu::Element>(type); }

TEST(GpuElements, FillAsTheHostDoesBitForBit) {
  constexpr std::int64_t kCount = 70'000;  // more than short types count without gaps
  for (const Type type : kHostTypes)
    for (const gpu::Source source : kSources) {
      std::vector<std::byte> host(static_cast<std::size_t>(kCount * size_of(type))), device(host.size());
      worker::fill({type, source, 7, 1}, host.data(), kCount);
      const auto key = generator::key(7, 1);
      for (gpu::Bits i = 0; i < kCount; ++i)
        gpu::write(element(type), device.data(), i, gpu::element(element(type), source, key, i));
      EXPECT_TRUE(host == device) << to_text(type) << " source " << static_cast<int>(source);
    }
}

TEST(GpuElements, EveryShortCodeIsTheHostsNumber) {
  for (gpu::Bits code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    for (const auto& [type, host] : {std::pair{gpu::Element::f16, worker::to_double(worker::Half{bits})},
                                     std::pair{gpu::Element::bf16, worker::to_double(worker::Bf16{bits})}}) {
      const double value = gpu::decode(type, code);
      if (std::isnan(host))
        EXPECT_TRUE(std::isnan(value)) << code;
      else
        EXPECT_EQ(value, host) << code;
      EXPECT_EQ(std::isfinite(value) ? gpu::encode(type, value) : code, code);
    }
  }
}

TEST(GpuElements, HalvesAreRoundedAsTheHostRoundsThem) {
  for (const float x : {0x1p-24F, 0x1p-25F, 0x1.8p-25F, 0x1.004p0F, 0x1.002p0F, 0x1.006p0F, 65504.0F, 0x1.ffcp-15F,
                        0x1.ffep-15F, -0x1.8p-24F, -3.14159F})
    EXPECT_EQ(gpu::to_short(x, gpu::format_of(gpu::Element::f16)), worker::round_to_half(x).bits) << x;
}

TEST(GpuElements, Fp8IsAsTheFormatsSay) {
  const auto e4m3 = [](gpu::Bits code) { return gpu::decode(gpu::Element::e4m3, code); };
  const auto e5m2 = [](gpu::Bits code) { return gpu::decode(gpu::Element::e5m2, code); };
  EXPECT_EQ(e4m3(0x7e), 448);
  EXPECT_EQ(e4m3(0x08), 0x1p-6);
  EXPECT_EQ(e4m3(0x01), 0x1p-9);
  EXPECT_EQ(e4m3(0xb8), -1);
  EXPECT_TRUE(std::isnan(e4m3(0x7f)));
  EXPECT_EQ(e5m2(0x7b), 57344);
  EXPECT_EQ(e5m2(0x04), 0x1p-14);
  EXPECT_EQ(e5m2(0x01), 0x1p-16);
  EXPECT_EQ(e5m2(0x7c), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(e5m2(0x7d)));
  for (gpu::Bits code = 0; code < 0x100; ++code)
    for (const auto type : {gpu::Element::e4m3, gpu::Element::e5m2})
      if (std::isfinite(gpu::decode(type, code))) {
        EXPECT_EQ(gpu::encode(type, gpu::decode(type, code)), code);
      }
}

TEST(GpuElements, TiesGoToTheEvenNeighbour) {
  EXPECT_EQ(gpu::encode(gpu::Element::e4m3, 1.0625), 0x38U);
  EXPECT_EQ(gpu::encode(gpu::Element::e4m3, 1.1875), 0x3aU);
  EXPECT_EQ(gpu::encode(gpu::Element::e5m2, 1.125), 0x3cU);
  EXPECT_EQ(gpu::encode(gpu::Element::e5m2, 1.375), 0x3eU);
}

TEST(GpuElements, ReadWhatTheyWrote) {
  std::vector<gpu::Bits> memory(4);
  for (const Type type : kHostTypes) {
    gpu::write(element(type), memory.data(), 3, gpu::encode(element(type), -5));
    EXPECT_EQ(gpu::decode(element(type), gpu::read(element(type), memory.data(), 3)), -5) << to_text(type);
  }
}

}  // namespace
}  // namespace tune::gpu_elements_test

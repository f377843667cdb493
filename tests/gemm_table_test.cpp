// Which GEMMs the CPU backend takes: every combination of types is tested here in every layout, or refused with a text.
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "cpu_fixture.h"

namespace tune {
namespace {

struct Types {
  Type in, acc, out;
};

constexpr std::array<Types, 9> kTested = {{{Type::f64, Type::f64, Type::f64},
                                           {Type::f32, Type::f32, Type::f32},
                                           {Type::f32, Type::f64, Type::f32},
                                           {Type::f32, Type::f64, Type::f64},
                                           {Type::bf16, Type::f32, Type::bf16},
                                           {Type::bf16, Type::f32, Type::f32},
                                           {Type::f16, Type::f32, Type::f16},
                                           {Type::f16, Type::f32, Type::f32},
                                           {Type::s8, Type::s32, Type::s32}}};

const char* const kRefused[][4] = {
    {"tf32", "f32", "f32", "the cpu backend has no tf32 matrices with f32 accumulation"},
    {"e4m3", "f32", "f32", "the cpu backend has no e4m3 matrices with f32 accumulation"},
    {"e5m2", "f32", "f32", "the cpu backend has no e5m2 matrices with f32 accumulation"},
    {"s8", "f32", "f32", "the cpu backend has no s8 matrices with f32 accumulation"},
    {"s32", "s32", "s32", "the cpu backend has no s32 matrices with s32 accumulation"},
    {"f32", "s32", "s32", "the cpu backend has no f32 matrices with s32 accumulation"},
    {"f16", "f16", "f16", "the cpu backend has no accumulation in f16: acc is f32, f64 or s32"},
    {"bf16", "bf16", "bf16", "the cpu backend has no accumulation in bf16: acc is f32, f64 or s32"},
    {"s8", "s32", "s8", "the cpu backend has no s8 result with s32 accumulation"},
    {"s8", "s32", "f32", "the cpu backend has no f32 result with s32 accumulation"},
    {"bf16", "f32", "e4m3", "the cpu backend has no e4m3 result with f32 accumulation"},
};

Gemm gemm_of(const Types& types) {
  Gemm gemm;
  gemm.m = 23;
  gemm.n = 31;
  gemm.k = 40;
  gemm.a = gemm.b = types.in;
  gemm.acc = types.acc;
  gemm.c = types.out;
  return gemm;
}

/// What else a GEMM can have besides sizes.
const std::array<std::pair<const char*, void (*)(Gemm&)>, 7> kVariants = {{
    {"plain", [](Gemm&) {}},
    {"alpha", [](Gemm& g) { g.alpha = 3; }},
    {"beta", [](Gemm& g) { g.beta = -2; }},
    {"batch", [](Gemm& g) { g.batch = 3; }},
    {"leading dimensions", [](Gemm& g) { std::tie(g.lda, g.ldb, g.ldc) = std::tuple(47, 48, 49); }},
    {"strides",
     [](Gemm& g) {
       g.batch = 2;
       std::tie(g.stride_a, g.stride_b, g.stride_c) = std::tuple(2000, 2001, 2002);
     }},
    {"all of them",
     [](Gemm& g) {
       g.alpha = 2;
       g.beta = 5;
       g.batch = 2;
       std::tie(g.lda, g.ldb, g.ldc) = std::tuple(47, 48, 49);
       std::tie(g.stride_a, g.stride_b, g.stride_c) = std::tuple(3000, 3001, 3002);
     }},
}};

std::vector<Gemm> layouts_of(Gemm gemm) {
  std::vector<Gemm> result;
  for (const Layout a : {Layout::row, Layout::col})
    for (const Layout b : {Layout::row, Layout::col})
      for (const Layout c : {Layout::row, Layout::col}) {
        std::tie(gemm.layout_a, gemm.layout_b, gemm.layout_c) = std::tie(a, b, c);
        result.push_back(gemm);
      }
  return result;
}

std::string name(const Gemm& g) {
  std::string text = std::string(to_text(g.a)) + " " + std::string(to_text(g.acc)) + " " + std::string(to_text(g.c));
  for (const Layout layout : {g.layout_a, g.layout_b, g.layout_c}) text += layout == Layout::row ? " row" : " col";
  return text;
}

const char* cpp_name(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
      return "float";
    case Type::f16:
      return "_Float16";
    case Type::bf16:
      return "std::uint16_t";
    case Type::s32:
      return "std::int32_t";
    default:
      return "std::int8_t";
  }
}

wire::KernelLaunch launch_of(const Gemm& gemm) {
  const Gemm g = resolved(gemm);
  wire::KernelLaunch launch;
  launch.kernel = "gemm";
  for (const char* buffer : {"A", "B", "C"}) launch.args.push_back(buffer_arg(buffer));
  for (const std::int64_t size : {g.m, g.n, g.k, g.batch}) launch.args.push_back(scalar_arg(size));
  for (const std::int64_t stride : {g.lda, g.ldb, g.ldc, g.stride_a, g.stride_b, g.stride_c})
    launch.args.push_back(scalar_arg(stride, Argument::Scalar::i64));
  for (const Layout layout : {g.layout_a, g.layout_b, g.layout_c})
    launch.args.push_back(scalar_arg(layout == Layout::col));
  for (const auto& [kind, number] : {std::pair(Argument::Kind::alpha, g.alpha), {Argument::Kind::beta, g.beta}}) {
    wire::Arg arg;
    arg.kind = kind;
    arg.number = number;
    launch.args.push_back(arg);
  }
  return launch;
}

wire::MeasureRequest request_of(const Gemm& gemm) {
  wire::MeasureRequest request;
  request.problem = gemm;
  request.launches = {launch_of(gemm)};
  return request;
}

class GemmTable : public CpuFixture {
 protected:
  std::string build_strided(const Types& types) {
    wire::BuildRequest request;
    request.source = kernel_file("gemm_strided.cpp");
    request.flags = {"-O1"};  // the compiler's time, not the kernel's
    request.defines = {{"IN", cpp_name(types.in)}, {"ACC", cpp_name(types.acc)}, {"OUT", cpp_name(types.out)}};
    request.problem = gemm_of(types);
    request.launches = {launch_of(gemm_of(types))};
    return build(request);
  }

  void SetUp() override {
    CpuFixture::SetUp();
    rules_.cold_cache = false;
    rules_.max_seconds = 0;
  }
};

TEST_F(GemmTable, EveryTypeIsRightInEveryLayoutWithEveryExtra) {
  for (const Types& types : kTested) {
    const std::string artifact = build_strided(types);
    for (const auto& [variant, change] : kVariants)
      for (Gemm gemm : layouts_of(gemm_of(types))) {
        SCOPED_TRACE(name(gemm) + ", " + variant);
        change(gemm);
        wire::MeasureRequest request = request_of(gemm);
        request.artifact = artifact;
        EXPECT_NO_THROW(EXPECT_TRUE(measure(request).checked));
      }
  }
}

TEST_F(GemmTable, TheVendorIsRightWhereItHasTheTypes) {
  for (const Types& types : {kTested[0], kTested[1]})
    for (const auto& [variant, change] : kVariants)
      for (Gemm gemm : layouts_of(gemm_of(types))) {
        SCOPED_TRACE(name(gemm) + ", " + variant);
        change(gemm);
        wire::MeasureRequest request = request_of(gemm);
        request.vendor = true;
        EXPECT_NO_THROW(EXPECT_TRUE(measure(request).checked));
      }
}

TEST_F(GemmTable, TheVendorRefusesWhatItLacks) {
  wire::MeasureRequest request = request_of(gemm_of({Type::bf16, Type::f32, Type::bf16}));
  request.vendor = true;
  EXPECT_EQ(refusal(Stage::load, [&] { measure(request); }),
            "the vendor library has no bf16 GEMM with f32 accumulation and bf16 result");
}

TEST_F(GemmTable, OtherTypesAreRefusedByBuildAndLoad) {
  for (const auto& [in, acc, out, text] : kRefused) {
    const Gemm gemm = gemm_of({*parse_type(in), *parse_type(acc), *parse_type(out)});
    wire::BuildRequest request;
    request.problem = gemm;
    EXPECT_EQ(refusal(Stage::build, [&] { build(request); }), text);
    EXPECT_EQ(refusal(Stage::load, [&] { make_backend()->load(request_of(gemm)); }), text);
  }
}

TEST_F(GemmTable, FractionsAreRefusedForIntegers) {
  Gemm gemm = gemm_of({Type::s8, Type::s32, Type::s32});
  gemm.alpha = 0.5;
  EXPECT_EQ(refusal(Stage::load, [&] { make_backend()->load(request_of(gemm)); }),
            "the cpu backend has no alpha or beta of 0.5 with s32 accumulation");
}

}  // namespace
}  // namespace tune

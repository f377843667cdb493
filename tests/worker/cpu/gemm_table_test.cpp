// Which GEMMs there are: every cell of the table is tested, here on the CPU in every layout, and all others are
// refused.
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "model/support.h"
#include "support/cpu_fixture.h"
#include "support/gemm_cells.h"

namespace tune::gemm_table_test {
namespace {

constexpr Type kTypes[] = {Type::f64,  Type::f32,  Type::tf32, Type::f16, Type::bf16,
                           Type::e4m3, Type::e5m2, Type::s32,  Type::s8};

Gemm gemm_of(const Cell& types) {
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
    case Type::e4m3:
    case Type::e5m2:
      return "std::uint8_t";
    case Type::s32:
      return "std::int32_t";
    default:
      return "std::int8_t";
  }
}

wire::KernelLaunch launch_of(const Gemm& gemm) {
  const Gemm g = worker::resolved(gemm);
  wire::KernelLaunch launch;
  launch.kernel = g.bias == Bias::none ? "gemm" : "gemm_bias";
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
  if (g.bias == Bias::none) return launch;
  launch.args.push_back(buffer_arg("bias"));
  launch.args.push_back(scalar_arg(g.bias == Bias::col));
  return launch;
}

wire::MeasureRequest request_of(const Gemm& gemm) {
  wire::MeasureRequest request;
  request.problem = gemm;
  request.what = wire::KernelRun{{launch_of(gemm)}};
  return request;
}

class GemmTable : public CpuFixture {
 protected:
  std::string build_strided(const Cell& types, Bias bias = Bias::none) {
    wire::BuildRequest request;
    request.source = kernel_file("gemm_strided.cpp");
    request.flags = {"-O1"};  // the compiler's time, not the kernel's
    request.defines = {{"IN", cpp_name(types.in)}, {"ACC", cpp_name(types.acc)}, {"OUT", cpp_name(types.out)}};
    request.defines.push_back({"FRACTION", types.in == Type::e5m2 ? "2" : "3"});
    Gemm gemm = gemm_of(types);
    gemm.bias = bias;
    request.problem = gemm;
    request.launches = {launch_of(gemm)};
    return build(request);
  }

  void SetUp() override {
    CpuFixture::SetUp();
    rules_.cold_cache = false;
    rules_.max_seconds = 0;
  }
};

// Each extra alone is tried in the first and the last layout, and all of them in every layout.
TEST_F(GemmTable, EveryTypeIsRightInEveryLayoutWithEveryExtra) {
  for (const Cell& types : kCpuCells) {
    const std::string artifact = build_strided(types);
    for (const auto& [variant, change] : kVariants) {
      std::vector<Gemm> layouts = layouts_of(gemm_of(types));
      if (change != kVariants.front().second && change != kVariants.back().second)
        layouts = {layouts.front(), layouts.back()};
      for (Gemm gemm : layouts) {
        SCOPED_TRACE(name(gemm) + ", " + variant);
        change(gemm);
        wire::MeasureRequest request = request_of(gemm);
        request.artifact = artifact;
        EXPECT_NO_THROW(EXPECT_TRUE(measure(request).checked));
      }
    }
  }
}

TEST_F(GemmTable, ABiasIsAddedToEveryRowOrColumnOfEveryMatrix) {
  for (const Cell& types : {kCpuCells[0], kCpuCells[8], kCpuCells[13]})
    for (const Bias bias : {Bias::row, Bias::col}) {
      const std::string artifact = build_strided(types, bias);
      for (Gemm gemm : layouts_of(gemm_of(types))) {
        SCOPED_TRACE(name(gemm));
        gemm.bias = bias;
        gemm.batch = 2;
        gemm.beta = 3;
        wire::MeasureRequest request = request_of(gemm);
        request.artifact = artifact;
        EXPECT_NO_THROW(EXPECT_TRUE(measure(request).checked));
      }
    }
}

TEST_F(GemmTable, AForgottenBiasIsWrong) {
  const std::string artifact = build_strided(kCpuCells[8]);
  Gemm gemm = gemm_of(kCpuCells[8]);
  wire::MeasureRequest request = request_of(gemm);
  request.artifact = artifact;
  gemm.bias = Bias::row;
  request.problem = gemm;
  EXPECT_EQ(first_line(refusal(Stage::check, [&] { measure(request); })), "wrong result in C");
}

TEST_F(GemmTable, TheVendorIsRightWhereItHasTheTypes) {
  for (const Cell& types : {kCpuCells[0], kCpuCells[12]})
    for (const auto& [variant, change] : kVariants)
      for (Gemm gemm : layouts_of(gemm_of(types))) {
        SCOPED_TRACE(name(gemm) + ", " + variant);
        change(gemm);
        wire::MeasureRequest request = request_of(gemm);
        request.what = wire::VendorRun{};
        EXPECT_NO_THROW(EXPECT_TRUE(measure(request).checked));
      }
}

TEST_F(GemmTable, TheVendorRefusesWhatItLacks) {
  wire::MeasureRequest request = request_of(gemm_of({Type::bf16, Type::f32, Type::bf16}));
  request.what = wire::VendorRun{};
  EXPECT_EQ(refusal(Stage::load, [&] { measure(request); }),
            "the vendor library has no bf16 GEMM with f32 accumulation and bf16 result");
  Gemm gemm = gemm_of(kCpuCells[0]);
  gemm.bias = Bias::row;
  request.problem = gemm;
  EXPECT_EQ(refusal(Stage::load, [&] { measure(request); }), "the vendor library has no GEMM with a bias");
}

TEST_F(GemmTable, AllOtherTypesAreRefusedByEveryBackend) {
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::hip})
    for (const Type in : kTypes)
      for (const Type acc : kTypes)
        for (const Type out : kTypes) {
          const Cell cell{in, acc, out};
          const bool tested = std::ranges::count(cells_of(backend), cell) > 0;
          EXPECT_EQ(unsupported(gemm_of(cell), backend).has_value(), !tested)
              << to_text(backend) << ": " << name(gemm_of(cell));
        }
}

TEST_F(GemmTable, ARefusalSaysWhatThereIsInstead) {
  const auto refused = [](const Cell& cell, Backend backend, double alpha = 1) {
    Gemm gemm = gemm_of(cell);
    gemm.alpha = alpha;
    return unsupported(gemm, backend).value_or("");
  };
  EXPECT_EQ(refused({Type::tf32, Type::f32, Type::f32}, Backend::cpu),
            "the cpu backend has no tf32 matrices with f32 accumulation; a and b are one of f32 f16 bf16 e4m3 e5m2");
  EXPECT_EQ(refused({Type::bf16, Type::bf16, Type::bf16}, Backend::cuda),
            "the cuda backend has no accumulation in bf16; acc is one of f32 f16 f64 s32");
  EXPECT_EQ(refused({Type::e4m3, Type::f32, Type::e4m3}, Backend::hip),
            "the hip backend has no e4m3 result with f32 accumulation; c is one of f32 f16 bf16");
  EXPECT_EQ(refused({Type::s8, Type::s32, Type::s32}, Backend::cpu, 0.5),
            "the cpu backend has no alpha or beta of 0.5 with s32 accumulation; they are integers");
}

TEST_F(GemmTable, TheWorkerRefusesWhatTheDriverShouldHave) {
  const Gemm gemm = gemm_of({Type::tf32, Type::f32, Type::f32});
  wire::BuildRequest request;
  request.problem = gemm;
  EXPECT_TRUE(refusal(Stage::build, [&] { build(request); }).starts_with("the cpu backend has no tf32"));
  EXPECT_TRUE(refusal(Stage::load, [&] {
                worker::make_backend()->load(request_of(gemm));
              }).starts_with("the cpu backend has no tf32"));
}

}  // namespace
}  // namespace tune::gemm_table_test

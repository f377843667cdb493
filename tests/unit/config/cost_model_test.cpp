// What a tuning file says of the costs of its specs, and what is predicted from it.
#include "model/cost/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tuning_folder.h"

namespace tune::cost_model_test {
namespace {

// An H200, as far as the model asks.
const Device kHopper = {"H",
                        "",
                        "sm_90a",
                        {{"multiprocessors", std::int64_t{132}},
                         {"clock_hz", std::int64_t{1'980'000'000}},
                         {"l2_bytes", std::int64_t{62'914'560}},
                         {"memory_bandwidth", std::int64_t{4'814'304'000'000}},
                         {"max_threads_per_multiprocessor", std::int64_t{2048}},
                         {"max_shared_per_multiprocessor", std::int64_t{233'472}},
                         {"max_blocks_per_multiprocessor", std::int64_t{32}}}};

constexpr const char* kGrid = "launch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], args: [A]}\n";

class CostModels : public testing::Test {
 protected:
  static std::string file(const std::string& more, const std::string& params = "{BM: [128, 256], BN: 128, BK: 64}",
                          const std::string& sizes = "m: 4096, n: 4096, k: 4096") {
    return "name: g\nfile: g.cu\nkernel: g\nproblem: {gemm: {" + sizes + ", a: bf16}}\nparams: " + params + "\n" + more;
  }
  std::string complaint(const std::string& more) {
    return folder_.complaint([&] { load_text(folder_, file(more)); });
  }
  /// Seconds of each spec in mesh order; 0: none is predicted.
  std::vector<double> seconds(const std::string& text, const Device& device = kHopper) {
    const Plan plan = load_text(folder_, text).plan;
    const auto model = CostModel::of(plan, device);
    std::vector<double> all;
    for (std::int64_t i = 0; model && i < *plan.space.product_size(); ++i) {
      const auto prediction = model->predict(std::get<Spec>(plan.space.at(i)));
      all.push_back(prediction ? prediction->seconds : 0);
    }
    return all;
  }
  std::vector<std::string> inferred_tile(const std::string& text) {
    std::vector<std::string> tile;
    const Plan plan = load_text(folder_, text).plan;
    for (const CostRule& rule : plan.cost_rules)
      for (const Expression& length : rule.tile) tile.push_back(length.text());
    return tile;
  }

  TuningFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(CostModels, TheTileIsWhatTheGridDividesTheSizesBy) {
  EXPECT_EQ(inferred_tile(file(kGrid)), (Texts{"BM", "BN", "BK"}));
  const std::string through_let =
      "let: {TILES: \"ceil_div(m, 2*BM)*ceil_div(n, BN)\", EVEN: k % DEPTH == 0}\n"
      "launch: {grid: [TILES], block: [256], args: [A]}\n";
  EXPECT_EQ(inferred_tile(file(through_let, "{BM: 64, BN: 128, DEPTH: [32, 64]}")), (Texts{"2*BM", "BN", "DEPTH"}));
}

TEST_F(CostModels, TheNumberOfPartsOfKIsNotItsSlice) {
  const std::string more =
      "constraints: [k % SPLIT == 0]\nlaunch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\", SPLIT], block: [256], "
      "args: [A]}\n";
  EXPECT_EQ(inferred_tile(file(more, "{BM: 64, BN: 64, SPLIT: [1, 2]}")), (Texts{"BM", "BN"}));
  EXPECT_EQ(inferred_tile(file(more, "{BM: 64, BN: 64, BK: [32, 64], SPLIT: [1, 2]}")), (Texts{"BM", "BN", "BK"}));
}

TEST_F(CostModels, NothingIsInferredWhereItWouldBeGuessed) {
  const Texts none;
  EXPECT_EQ(
      inferred_tile(file("launch: {grid: [\"ceil_div(m, 32)\", \"ceil_div(n, 32)\"], block: [256], args: [A]}\n")),
      none);
  EXPECT_EQ(inferred_tile(file("launch: {grid: [\"m//BM\", \"n//BN\"], block: [256], args: [A]}\n")), none);
  EXPECT_EQ(inferred_tile(file("launch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\", \"ceil_div(m, 7)\"], "
                               "block: [256], args: [A]}\n")),
            none);
  EXPECT_EQ(inferred_tile(file("launch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], cluster: "
                               "[2], args: [A]}\n")),
            none);
}

// 132 tiles are one wave, and 144 are two.
TEST_F(CostModels, ALastWaveThatIsNotFullCostsAsMuchAsAFullOne) {
  const std::string more = std::string(kGrid) + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 4}\n";
  const double full = seconds(file(more, "{BM: 128, BN: 128, BK: 64}", "m: 1408, n: 1536, k: 8192"))[0];
  const double one_more = seconds(file(more, "{BM: 128, BN: 128, BK: 64}", "m: 1409, n: 1536, k: 8192"))[0];
  EXPECT_GT(one_more / full, 1.7);
}

// 2 * 8448 * 8192^2 operations at 0.9 of 1071 TFLOP/s take 1.18 ms, in 2112 tiles that are 16 full waves.
TEST_F(CostModels, ALargeProductTakesLittleMoreThanItsOperations) {
  const std::string more = std::string(kGrid) + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 4}\n";
  const double found = 1e3 * seconds(file(more, "{BM: 128, BN: 256, BK: 64}", "m: 8448, n: 8192, k: 8192"))[0];
  EXPECT_GT(found, 1.18);
  EXPECT_LT(found, 1.7);
}

// Of 132 tiles at 128 bytes per cycle: 1024 slices of 16 KiB.
TEST_F(CostModels, LoadsThatAreSharedAreTakenInByEach) {
  const std::string more =
      std::string(kGrid) + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 8, share: [11, 12]}\n";
  const double found = seconds(file(more, "{BM: 64, BN: 64, BK: 64}", "m: 704, n: 768, k: 65536"))[0];
  EXPECT_GT(found, 1024 * 16384 / (128 * 1.98e9));
}

// B of 65536 columns takes the time, and C of half of them little.
TEST_F(CostModels, SwigluMultipliesTwiceTheColumnsThatItStores) {
  const auto time_of = [&](const std::string& columns, const std::string& build) {
    const std::string more = kGrid + build + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 4}\n";
    return seconds(file(more, "{BM: 64, BN: 64, BK: 64}", "m: 16, k: 1024, n: " + columns))[0];
  };
  const double swiglu = time_of("32768, epilogue: swiglu", "build: {defines: [epilogue]}\n");
  EXPECT_NEAR(swiglu / time_of("65536", ""), 1, 0.05);
}

// 33 tiles of 128 rows fill 17 clusters of two, the last one by half.
TEST_F(CostModels, ABlockOutsideOfCHoldsItsClusterUp) {
  const std::string more =
      "let: {TILES: \"ceil_div(m, BM*CLUSTER)*CLUSTER*ceil_div(n, BN)\"}\n"
      "model: {tile: [BM, BN, BK], tiles: TILES, inner: [64, 64], stages: 4}\n"
      "launch: {grid: [TILES], block: [256], cluster: [CLUSTER], args: [A]}\n";
  const auto of_rows = [&](const std::string& rows) {
    return seconds(file(more, "{BM: 128, BN: 128, BK: 64, CLUSTER: [1, 2]}", "k: 4096, n: 128, m: " + rows));
  };
  const auto even = of_rows("4096"), odd = of_rows("4224");
  EXPECT_NEAR(even[1] / even[0], 1, 0.01);
  EXPECT_GT(odd[1] / odd[0], 1.04);
}

// 132 tiles of 64 x 64: those in a row read the same of A, and a square of them reads different rows and columns.
TEST(Cost, UnitsThatNeedTheSameAskTheCacheForItOnce) {
  cost::Hardware hardware{132, 2e9, 4096, 128, 128, 45, 1, 6e7, 1e15, 0, 0, true};
  const cost::Product product{704, 768, 65536, 1, 1, 2, 2};
  cost::Kernel kernel;
  kernel.tile_m = kernel.tile_n = kernel.tile_k = kernel.inner_m = kernel.inner_n = 64;
  kernel.tiles = 132;
  const auto time_of = [&](double alike, double down, double across) {
    hardware.alike = alike;
    kernel.down = down;
    kernel.across = across;
    return cost::predict(hardware, product, kernel).seconds;
  };
  EXPECT_NEAR(time_of(1, 1, 132) / time_of(1, 11, 12), 1, 1e-9);
  EXPECT_LT(time_of(6, 11, 12), 0.95 * time_of(1, 11, 12));
  EXPECT_LT(time_of(6, 1, 132), 0.9 * time_of(6, 11, 12));
}

// Of eight tiles side by side, the last one has 8 of its 128 columns inside of C, or all of them.
TEST_F(CostModels, RowsOutsideOfAMatrixTakeLongerWhereTheyAreLoaded) {
  const auto of_columns = [&](const std::string& args, const std::string& columns) {
    const std::string more =
        "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 8}\n"
        "launch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], args: " +
        args + "}\n";
    return seconds(file(more, "{BM: 64, BN: 128, BK: 64}", "m: 1024, k: 8192, layout: {b: col}, n: " + columns))[0];
  };
  const std::string maps = "[{tma: A, box: [64, 64]}, {tma: B, box: [64, 128]}, C]";
  EXPECT_GT(of_columns(maps, "904"), 1.1 * of_columns(maps, "1024"));
  EXPECT_LT(of_columns("[A, B, C]", "904"), 1.01 * of_columns("[A, B, C]", "1024"));
}

// Each of the parts adds up its own share of the tile.
TEST_F(CostModels, MorePartsOfKAreNotAddedUpForLonger) {
  const std::string more = std::string(kGrid) + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: 4, split: S}\n";
  const auto of_parts = seconds(file(more, "{BM: 128, BN: 128, BK: 64, S: [1, 2, 64]}", "m: 128, n: 128, k: 4096"));
  EXPECT_GT(of_parts[0], of_parts[1]);
  EXPECT_GT(of_parts[1], of_parts[2]);
}

TEST_F(CostModels, APipelineHidesTheMemorysAnswer) {
  const std::string more = std::string(kGrid) + "model: {tile: [BM, BN, BK], inner: [64, 64], stages: S}\n";
  const auto of_stages = seconds(file(more, "{BM: 64, BN: 64, BK: 64, S: [2, 3, 5]}", "m: 512, n: 512, k: 8192"));
  EXPECT_GT(of_stages[0], 1.2 * of_stages[1]);
  EXPECT_GT(of_stages[1], 1.1 * of_stages[2]);
}

TEST_F(CostModels, TheFirstRuleWhoseConditionHoldsIsMeant) {
  const std::string more =
      std::string(kGrid) + "model: [{if: BM == 128, time: 3*BM}, {if: BM == 256, kind: stream, factor: 2}]\n";
  const auto found = seconds(file(more));
  EXPECT_EQ(found[0], 384);
  EXPECT_NEAR(found[1], 2 * (2.5e-6 + 3 * 2 * 4096.0 * 4096 / (0.87 * 4'814'304'000'000)), 1e-9);
}

TEST_F(CostModels, AnImpossibleValuePredictsNothing) {
  for (const char* tile : {"[BM - 128, BN]", "[BM, BN - 200]", "[BM//0, BN]"})
    EXPECT_EQ(seconds(file(std::string(kGrid) + "model: {tile: " + tile + "}\n"))[0], 0) << tile;
}

TEST_F(CostModels, ADeviceThatTellsTooLittleHasNone) {
  EXPECT_TRUE(seconds(file(kGrid), Device{"H", "", "sm_90a", {}}).empty());
  EXPECT_FALSE(seconds(file(std::string(kGrid) + "model: {time: BM}\n"), Device{"H", "", "", {}}).empty());
  Device unknown = kHopper;
  unknown.arch = "sm_999";
  EXPECT_TRUE(seconds(file(kGrid), unknown).empty());
  EXPECT_FALSE(seconds(file(std::string(kGrid) + "model: {tile: [BM, BN], math: 4096}\n"), unknown).empty());
}

TEST_F(CostModels, PredictionsAreNeverInfinite) {
  const std::string more = std::string(kGrid) + "model: {tile: [BM, BN, BK], group: 1, tiles: 1.7e308, split: 4}\n";
  EXPECT_EQ(seconds(file(more)), (std::vector<double>{0, 0}));
}

TEST_F(CostModels, ALaunchMayAskForNoSharedMemory) {
  const std::string more =
      "launch: {grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], shared: 0, args: [A]}\n";
  EXPECT_GT(seconds(file(more))[0], 0);
}

TEST_F(CostModels, AVariantUnderAnotherNameIsALaunchToo) {
  const std::string launches =
      "launch: [{if: V == 0, grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], args: [A]},\n"
      "         {if: V == 1, kernel: g2, grid: [\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"], block: [256], args: [A]}]\n";
  const auto found = seconds(file(launches + "model: {tile: [BM, BN, BK]}\n", "{BM: 128, BN: 128, BK: 64, V: [0, 1]}"));
  EXPECT_EQ(found[0], found[1]);
}

TEST_F(CostModels, WrongInputIsSaidWithItsPlace) {
  const std::string grid = kGrid;
  EXPECT_EQ(complaint(grid + "model: {tile: [BMM, BN]}\n"),
            "gemm.yaml:7: unknown name 'BMM' in model.tile 'BMM', did you mean 'BM'?");
  EXPECT_EQ(complaint(grid + "model: {tile: [BM]}\n"),
            "gemm.yaml:7: model.tile must be a list of two or three expressions");
  EXPECT_EQ(complaint(grid + "model: {stages: 3}\n"),
            "gemm.yaml:7: model needs tile: [rows, columns], kind: stream, or time: with a formula");
  EXPECT_NE(complaint(grid + "model: {tiles: [BM, BN]}\n").find("gemm.yaml:7: "), std::string::npos);
  EXPECT_NE(complaint(grid + "model: {kind: streem}\n").find("model.kind"), std::string::npos);
  EXPECT_NE(complaint(grid + "model: 3\n").find("gemm.yaml:7: "), std::string::npos);
}

TEST_F(CostModels, TilesAreForGemms) {
  const std::string custom =
      "name: g\nfile: g.cu\nkernel: g\nproblem: {custom: {buffers: [{name: A, type: f32, count: 8}, {name: C, type: "
      "f32, "
      "count: 8, role: out}], reference: {spec: {P: 1}}, bytes: 64}}\nparams: {P: [1, 2]}\n"
      "launch: {grid: [1], block: [1], args: [A, C]}\n";
  const auto load = [&](const std::string& model) {
    return folder_.complaint([&] { load_text(folder_, custom + model); });
  };
  EXPECT_EQ(load("model: {kind: stream}\n"), "");
  EXPECT_NE(load("model: {tile: [P, P]}\n").find("only a gemm problem has tiles"), std::string::npos);
  EXPECT_NE(folder_.complaint([&] { load_text(folder_, program_file("{P: [1, 2]}", "model: {kind: stream}\n")); })
                .find("nothing is known of what a program computes"),
            std::string::npos);
}

}  // namespace
}  // namespace tune::cost_model_test

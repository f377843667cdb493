#include "report/csv.h"

#include <gtest/gtest.h>

#include <locale>
#include <sstream>

namespace tune::report::csv_test {
namespace {

Spec spec(std::int64_t mesh_idx, Value bm, Value raster) {
  return {mesh_idx, {{"BM", std::move(bm), false}, {"RASTER", std::move(raster), true}}};
}

Trial measured(const Spec& spec) {
  Measurement measurement;
  measurement.timing = {7, 0.9844e-3, 0.9e-3, 1e-3, 1.25e-3, 0.98e-3, 0.99e-3, false};
  measurement.checked = true;
  measurement.max_error = 0.125;
  return {spec, measurement};
}

std::string csv_of(const std::vector<Trial>& trials, std::vector<Column> columns = {}) {
  std::ostringstream out;
  Csv csv(out, "gemm", {"BM", "RASTER"}, std::move(columns), {devices_of(trials) > 1, false, any_shared(trials)});
  for (const Trial& trial : trials) csv.add(trial);
  return out.str();
}

/// Rows below the header.
std::string rows_of(const std::vector<Trial>& trials, std::vector<Column> columns = {}) {
  const std::string text = csv_of(trials, std::move(columns));
  return text.substr(text.find('\n') + 1);
}

TEST(Csv, HasAHeaderEvenWithoutRows) {
  EXPECT_EQ(csv_of({}, {arithmetic_column(1)}),
            "mesh_idx,name,status,BM,RASTER,met (ms),min (ms),mean (ms),p95 (ms),ci_low (ms),ci_high (ms),"
            "iters,checked,max_error,Arithmetic (GFLOPS/s),stage,cause,reason\n");
}

TEST(Csv, WritesAMeasuredSpec) {
  EXPECT_EQ(rows_of({measured(spec(39, std::int64_t{128}, std::string("row")))}, {arithmetic_column(0.9844e9)}),
            "39,gemm,ok,128,row,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,1000,,,\n");
}

TEST(Csv, TellsEarlyStoppedAndUncheckedSpecs) {
  Trial trial = measured(spec(1, std::int64_t{64}, std::string("col")));
  std::get<Measurement>(trial.outcome).timing.stopped_early = true;
  std::get<Measurement>(trial.outcome).checked = false;
  EXPECT_EQ(rows_of({trial}), "1,gemm,early,64,col,0.9844,0.9,1,1.25,0.98,0.99,7,no,,,,\n");
}

TEST(Csv, TellsSharedProcessesWhereThereAreSome) {
  Trial trial = measured(spec(1, std::int64_t{64}, std::string("col")));
  const Trial own = trial, failed = {trial.spec, Failure{Stage::check, Cause::crashed, "x", ""}};
  std::get<Measurement>(trial.outcome).shared = true;
  EXPECT_EQ(csv_of({own}).find("process"), std::string::npos);
  EXPECT_NE(csv_of({own, trial}).find(",reason,process\n"), std::string::npos);
  EXPECT_EQ(rows_of({own, trial, failed}),
            "1,gemm,ok,64,col,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,own\n"
            "1,gemm,ok,64,col,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,shared\n"
            "1,gemm,failed,64,col,,,,,,,,,,check,crashed,x,\n");
}

TEST(Csv, WritesAFailureWithTheFirstLineOfItsMessage) {
  const Failure failure{Stage::check, Cause::timed_out, "12 wrong\nmore", ""};
  EXPECT_EQ(rows_of({{spec(2, std::int64_t{64}, std::string("col")), failure}}, {arithmetic_column(1)}),
            "2,gemm,failed,64,col,,,,,,,,,,,check,timed out,12 wrong\n");
}

TEST(Csv, WritesWhatWasPrunedBeforeAndAfterTheBuild) {
  std::ostringstream out;
  Csv csv(out, "gemm", {"BM", "RASTER"}, {}, {});
  csv.add_pruned(spec(3, std::int64_t{64}, std::string("row")), "BM > 64");
  csv.add({spec(4, std::int64_t{64}, std::string("row")), PrunedAfterBuild{"spills == 0", {}}});
  const std::string text = out.str();
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "3,gemm,pruned,64,row,,,,,,,,,,,,BM > 64\n"
            "4,gemm,pruned after build,64,row,,,,,,,,,,,,spills == 0\n");
}

TEST(Csv, QuotesCommasAndQuotes) {
  const Failure failure{Stage::build, Cause::reported, "expected \",\" here", ""};
  EXPECT_EQ(rows_of({{spec(5, Pair{2, 1}, std::string("a\nb")), failure}}),
            "5,gemm,failed,\"[2, 1]\",\"a\nb\",,,,,,,,,,build,reported,\"expected \"\",\"\" here\"\n");
}

TEST(Csv, LeavesACellEmptyWhereThereIsNoNumber) {
  const Trial trial = measured(spec(39, std::int64_t{128}, std::string("row")));
  Trial without_param = trial;
  without_param.spec.params.pop_back();
  EXPECT_EQ(rows_of({without_param}, {measured_column("watts")}),
            "39,gemm,ok,128,,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,\n");
}

TEST(Csv, NamesTheDeviceWhereThereAreSeveral) {
  std::vector<Trial> trials(2, measured(spec(1, std::int64_t{64}, std::string("row"))));
  std::get<Measurement>(trials[0].outcome).device = "GPU-a";
  EXPECT_EQ(csv_of(trials).find("device"), std::string::npos);
  std::get<Measurement>(trials[1].outcome).device = "GPU-b";
  scale_times(std::get<Measurement>(trials[1].outcome), 0.5);
  trials.push_back({spec(2, std::int64_t{64}, std::string("col")), Failure{Stage::check, Cause::crashed, "x", ""}});
  EXPECT_TRUE(
      csv_of(trials).starts_with("mesh_idx,name,status,BM,RASTER,met (ms),min (ms),mean (ms),p95 (ms),"
                                 "ci_low (ms),ci_high (ms),iters,checked,max_error,stage,cause,reason,"
                                 "device,scaled\n"));
  EXPECT_EQ(rows_of(trials),
            "1,gemm,ok,64,row,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,GPU-a,1\n"
            "1,gemm,ok,64,row,0.4922,0.45,0.5,0.625,0.49,0.495,7,yes,0.125,,,,GPU-b,0.5\n"
            "2,gemm,failed,64,col,,,,,,,,,,check,crashed,x,,\n");
}

TEST(Csv, OfATuningSaysWhereASpecStands) {
  std::ostringstream out;
  Csv csv(out, "gemm", {"BM", "RASTER"}, {}, {.tuned = true});
  csv.add(measured(spec(1, std::int64_t{64}, std::string("row"))), {}, {1, 0.5e-3});
  csv.add(measured(spec(2, std::int64_t{64}, std::string("row"))), {}, {2, 0});
  csv.add_pruned(spec(3, std::int64_t{64}, std::string("row")), "BM > 64");
  const std::string text = out.str();
  EXPECT_TRUE(text.substr(0, text.find('\n')).ends_with(",stage,cause,reason,place,finals (ms)"));
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "1,gemm,ok,64,row,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,1,0.5\n"
            "2,gemm,ok,64,row,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,,2,\n"
            "3,gemm,pruned,64,row,,,,,,,,,,,,BM > 64,,\n");
}

TEST(Csv, WritesPointsAsDecimalSignsInEveryLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string rows = rows_of({measured(spec(123456, std::int64_t{128}, std::string("row")))});
  std::locale::global(before);
  EXPECT_EQ(rows, "123456,gemm,ok,128,row,0.9844,0.9,1,1.25,0.98,0.99,7,yes,0.125,,,\n");
}

}  // namespace
}  // namespace tune::report::csv_test

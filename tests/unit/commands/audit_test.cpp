#include "commands/audit/audit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/has.h"
#include "support/tuning_folder.h"

namespace tune::audit_test {
namespace {

using cli::has;

Spec spec(std::int64_t t) { return {t, {{"T", Value(t), false}}}; }

commands::AuditRun run(int number, std::optional<std::int64_t> winner, std::optional<double> relative) {
  commands::AuditRun audited{number, 0, {}, 0.002, relative, {}, {}};
  if (winner) audited.winner = spec(*winner);
  return audited;
}

TEST(AuditTable, CountsRunsWhoseWinnerIsMoreThanOnePerCentOffTheUsualOne) {
  const commands::AuditedShape shape{"x", {run(1, 1, 1.0), run(2, 2, 1.009), run(3, 1, 1.0), run(4, 3, 1.011)}};
  const commands::AuditFigures figures = commands::figures_of(shape);
  EXPECT_EQ(figures.runs, 4);
  EXPECT_EQ(figures.winners, 3);
  EXPECT_EQ(figures.changed, 1);
  EXPECT_DOUBLE_EQ(figures.changed_share(), 0.25);
  EXPECT_NEAR(figures.mean_regret, 0.005, 1e-12);
  EXPECT_NEAR(figures.worst_regret, 0.011, 1e-12);
}

TEST(AuditTable, AFasterWinnerThanTheUsualOneIsAChangeToo) {
  EXPECT_EQ(
      commands::figures_of(commands::AuditedShape{"x", {run(1, 1, 1.05), run(2, 1, 1.05), run(3, 2, 1.0)}}).changed, 1);
}

TEST(AuditTable, OfEquallyFrequentWinnersTheFirstIsTheUsualOne) {
  const commands::AuditedShape shape{"x",
                                     {run(1, 2, 1.0), run(2, 1, 1.1), run(3, 1, 1.1), run(4, 2, 1.0), run(5, 3, 1.1)}};
  EXPECT_EQ(commands::figures_of(shape).changed, 3);
}

TEST(AuditTable, ARunWithoutAWinnerHasChangedWhereOthersHaveOne) {
  const commands::AuditFigures figures =
      commands::figures_of(commands::AuditedShape{"x", {run(1, 1, 1.0), run(2, {}, {})}});
  EXPECT_EQ(figures.changed, 1);
  EXPECT_EQ(figures.without_winner, 1);
  EXPECT_EQ(figures.known, 1);
  const commands::AuditFigures none =
      commands::figures_of(commands::AuditedShape{"x", {run(1, {}, {}), run(2, {}, {})}});
  EXPECT_EQ(none.changed, 0);
  EXPECT_EQ(none.winners, 0);
}

TEST(AuditTable, AWinnerThatCouldNotBeComparedHasChanged) {
  EXPECT_EQ(commands::figures_of(commands::AuditedShape{"x", {run(1, 1, 1.0), run(2, 1, 1.0), run(3, 2, {})}}).changed,
            1);
}

TEST(AuditTable, AllShapesCountByTheirRuns) {
  std::vector<commands::AuditedShape> shapes = {{"one", {run(1, 1, 1.0), run(2, 1, 1.0), run(3, 1, 1.0)}},
                                                {"two, wide", {run(1, 1, 1.0), run(2, 2, 1.08)}}};
  shapes[0].runs[0].replayed = true;
  shapes[0].runs[1].replayed = false;
  shapes[0].runs[0].simulated = true;
  const commands::AuditFigures all = commands::figures_of(shapes);
  EXPECT_NEAR(all.mean_regret, 0.08 / 5, 1e-12);
  EXPECT_EQ(all.shapes_changed, 1);
  const std::string text = commands::audit_text(shapes);
  EXPECT_EQ(text,
            "    shape  runs  winners  changed  regret   worst  replay  simulate\n"
            "      one     3        1   0.00 %  0.00 %  0.00 %     1/2       1/1\n"
            "two, wide     2        2  50.00 %  4.00 %  8.00 %       -         -\n"
            "all: winner changed beyond 1 % in 1 of 2 shapes and 1 of 5 runs (20.00 %)\n"
            "     regret 1.60 % in the mean, 8.00 % at worst\n"
            "     replayed alike 1/2, simulated alike 1/1\n");
  EXPECT_TRUE(has(commands::audit_csv(shapes), "\none,1,0,1,T=1,2,0,yes,yes\n"));
  EXPECT_TRUE(has(commands::audit_csv(shapes), "\n\"two, wide\",2,0,2,T=2,2,0.08,,\n"));
}

/// Audits of a recording of 40 specs, T = 1..40, that take 10, 10.1, 10.2... ms in an order that is not theirs.
class Audited : public testing::Test {
 protected:
  Audited() { options_.tuning.tune = true; }

  std::filesystem::path recording(const std::string& more_of_each = "") const {
    std::string values, entries;
    for (int t = 1; t <= 40; ++t) {
      const int place = t * 7 % 41 - 1;  // 0, the best, is that of T=6
      values += fmt::format("{}{}", t == 1 ? "" : ", ", t);
      entries += fmt::format("{}\n\"{}\": {{\"T\": {}, \"time\": {:.4f}, \"GFLOP/s\": {:.4f}{}}}", t == 1 ? "" : ",", t,
                             t, 10 + 0.1 * place, 1000 / (10 + 0.1 * place), more_of_each);
    }
    return folder_.write("run.json",
                         "{\n\"device_name\": \"X\", \"kernel_name\": \"bench\", \"problem_size\": [64], "
                         "\"tune_params_keys\": [\"T\"],\n"
                         "\"tune_params\": {\"T\": [" +
                             values + "]}, \"objective\": \"time\",\n\"cache\": {" + entries + "}\n}\n");
  }

  commands::AuditedShape audit(std::optional<double> noise) {
    options_.noise = noise;
    return commands::audit_recording(options_, recording(), "run");
  }

  static std::vector<std::int64_t> winners(const commands::AuditedShape& shape) {
    std::vector<std::int64_t> values;
    for (const commands::AuditRun& run : shape.runs) values.push_back(std::get<std::int64_t>(*run.winner->find("T")));
    return values;
  }

  TuningFolder folder_;
  commands::AuditOptions options_;
};

TEST_F(Audited, WithoutNoiseTheBestIsAlwaysFound) {
  const commands::AuditedShape shape = audit(0);
  EXPECT_EQ(winners(shape), std::vector<std::int64_t>(10, 6));
  const commands::AuditFigures figures = commands::figures_of(shape);
  EXPECT_EQ(figures.changed, 0);
  EXPECT_EQ(figures.known, 10);
  EXPECT_EQ(figures.mean_regret, 0);
  EXPECT_EQ(figures.worst_regret, 0);
  EXPECT_EQ(shape.runs.front().seconds, 0.01);
}

TEST_F(Audited, NoiseMakesTheWinnerChange) {
  EXPECT_EQ(winners(audit(0.001)), std::vector<std::int64_t>(10, 6));
  const commands::AuditFigures figures = commands::figures_of(audit(0.3));
  EXPECT_GT(figures.winners, 3);
  EXPECT_GT(figures.changed, 2);  // three of ten runs
  EXPECT_GT(figures.mean_regret, 0.01);
}

TEST_F(Audited, TheSameSeedGivesTheSameRuns) {
  options_.runs = 4;
  const auto first = winners(audit(0.3));
  EXPECT_EQ(first, winners(audit(0.3)));
  options_.tuning.job.search.seed = 2;
  const auto later = winners(audit(0.3));
  EXPECT_EQ(first[2], later[0]);
  EXPECT_EQ(first[3], later[1]);
  EXPECT_NE(first, later);
}

TEST_F(Audited, TheFiguresOfASeedAreTheSameEverywhere) {
  options_.runs = 6;
  const commands::AuditedShape shape = audit(0.1);
  EXPECT_EQ(winners(shape), (std::vector<std::int64_t>{12, 6, 24, 6, 6, 6}));
  EXPECT_NEAR(commands::figures_of(shape).mean_regret, (0.01 + 0 + 0.03 + 0 + 0 + 0) / 6, 1e-9);
}

TEST_F(Audited, ASearchMissesWhatItDoesNotTry) {
  options_.tuning.job.search.max_evals = 3;
  options_.tuning.job.search.strategy = search::parse_strategy("random");
  const commands::AuditFigures figures = commands::figures_of(audit(0));
  EXPECT_GT(figures.winners, 3);
  EXPECT_GT(figures.mean_regret, 0.01);
}

TEST_F(Audited, WhereMoreIsBetterTheRegretIsOfThat) {
  options_.tuning.job.load.objectives = {"GFLOP/s"};
  EXPECT_EQ(winners(audit(0)), std::vector<std::int64_t>(10, 6));
  options_.runs = 20;
  const commands::AuditedShape shape = audit(0.3);
  EXPECT_GT(commands::figures_of(shape).winners, 3);
  for (const commands::AuditRun& run : shape.runs) {
    const auto t = std::get<std::int64_t>(*run.winner->find("T"));
    EXPECT_NEAR(*run.relative, 1 + 0.01 * static_cast<double>(t * 7 % 41 - 1), 1e-4);
  }
}

TEST_F(Audited, TheSizeOfTheNoiseFollowsFromRecordedIntervals) {
  const auto wide = recording(R"(, "times": [6, 7, 8, 9, 10, 11, 12, 13, 14, 15])");
  const commands::AuditFigures noisy = commands::figures_of(commands::audit_recording(options_, wide, "run"));
  EXPECT_GT(noisy.winners, 3);
  const auto narrow = recording(R"(, "times": [10, 10, 10, 10, 10, 10, 10, 10, 10, 10])");
  EXPECT_EQ(commands::figures_of(commands::audit_recording(options_, narrow, "run")).winners, 1);
}

TEST_F(Audited, ARecordingWithoutIntervalsNeedsTheSizeOfTheNoise) {
  const auto path = recording();
  EXPECT_EQ(folder_.complaint([&] { commands::audit_recording(options_, path, "run"); }),
            "run.json: the recording does not tell how certain its times are; give the size of their noise, such as "
            "--with-noise 1%");
}

TEST_F(Audited, ARecordingWithoutAValidSpecHasNoWinners) {
  const auto path = folder_.write("none.json", R"({
"device_name": "X", "kernel_name": "bench", "problem_size": [64], "tune_params_keys": ["T"],
"tune_params": {"T": [1]}, "objective": "time",
"cache": {
"1": {"T": 1, "time": "RuntimeFailedConfig"}}
}
)");
  options_.noise = 0.01;
  EXPECT_EQ(commands::figures_of(commands::audit_recording(options_, path, "none")).without_winner, 10);
}

}  // namespace
}  // namespace tune::audit_test

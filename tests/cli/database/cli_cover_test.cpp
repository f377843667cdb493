// `tune cover`: few binaries for many sizes, the rule that chooses among them, and what a key costs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "support/database_file.h"
#include "support/has.h"

namespace tune::cli::cli_cover_test {
namespace {

/// A database of sizes m=64 to 2048, each with a best configuration of its own, and the journals that it is from.
class Cover : public DatabaseFile {
 protected:
  static constexpr int kSizes[] = {64, 128, 256, 512, 1024, 2048};

  /// Configuration BM is the best for m = 8 BM. SMALL and LARGE are worse by 2 % for the sizes up to 256, or from 512
  /// on, and by half for the others.
  static double time_of(int m, int bm) {
    constexpr int kSmall = 1, kLarge = 2;
    const double best = m / 64.0;
    if (bm == kSmall) return best * (m <= 256 ? 1.02 : 1.5);
    if (bm == kLarge) return best * (m >= 512 ? 1.02 : 1.5);
    return best * (m == bm * 8 ? 1 : 2);
  }

  void write_runs() const {
    std::string all;
    for (const int m : kSizes) {
      Best best;
      best.m = m;
      best.params = "{BM: " + std::to_string(m / 8) + ", ALWAYS: 1}";
      best.time = std::to_string(m / 64);
      best.more = "  artifact: a" + std::to_string(m / 8) + "\n  code: c\n";
      tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
      all += journal(m);
    }
    sandbox_.write("all.jsonl", all);
  }

  using Times = std::vector<std::pair<std::vector<Setting>, double>>;  // ms

  static std::string journal(int m) {
    Times times;
    for (const int bm : {1, 2, 8, 16, 32, 64, 128, 256})
      times.push_back({{{"BM", std::int64_t{bm}, false}, {"ALWAYS", std::int64_t{1}, false}}, time_of(m, bm)});
    return journal(m, times);
  }

  /// The artifact of a configuration is named after its first parameter.
  static std::string journal(int m, const Times& times) {
    wire::RunRecord run;
    run.name = "gemm";
    run.problem = std::to_string(m) + "x64x64";
    run.hello.device.name = "NVIDIA H200";
    std::string text = wire::encode(run) + "\n";
    std::int64_t index = 0;
    for (const auto& [params, milliseconds] : times) {
      Measurement measurement;
      const double seconds = milliseconds * 1e-3;
      const std::string first = to_text(params.front().value);
      measurement.timing = {9, seconds, seconds, seconds, seconds, seconds, seconds, false};
      measurement.build.key = "k" + first;
      measurement.build.artifact_hash = "a" + first;
      const Trial trial{{index++, params}, measurement};
      text += wire::encode(wire::TrialRecord{fmt::format("id{}-{}", m, index), trial}) + "\n";
    }
    return text;
  }
};

TEST_F(Cover, IsTheSmallestSetOfConfigurations) {
  write_runs();
  const Result two = tune({"cover", "db.yaml", "all.jsonl"});
  EXPECT_EQ(two.out,
            "2 of 8 configurations for 6 sizes; worst slowdown 1.020, mean 1.020; fewer do not suffice\n"
            "in all: ALWAYS=1\n"
            " use  sizes  BM\n"
            "   0      3   1\n"
            "   1      3   2\n"
            " use  slowdown  sizes\n"
            "   0     1.020  m=64 n=64 k=64\n"
            "   0     1.020  m=128 n=64 k=64\n"
            "   0     1.020  m=256 n=64 k=64\n"
            "   1     1.020  m=512 n=64 k=64\n"
            "   1     1.020  m=1024 n=64 k=64\n"
            "   1     1.020  m=2048 n=64 k=64\n"
            "each size left out in turn: mean slowdown 1.100 with the rule of the others, worst 1.500 (m=512 n=64 "
            "k=64)\n");
  const std::string db = sandbox_.read("db.yaml");
  EXPECT_TRUE(
      has(db,
          "    slowdown: 1.02\n    configurations:\n      - {params: {BM: 1, ALWAYS: 1}, artifact: a1, store_path: "
          "k1/kernel.cubin}\n"));
  EXPECT_TRUE(has(db, "    tree:\n      if: m\n      most: 362\n      then: 0\n      else: 1\n"));
  tune({"cover", "db.yaml", "all.jsonl"});
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
  const Result all = tune({"cover", "db.yaml", "all.jsonl", "--slowdown", "1", "-o", "all.yaml"});
  EXPECT_TRUE(has(all.out, "6 of 8 configurations for 6 sizes; worst slowdown 1.000")) << all.out;
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
  EXPECT_TRUE(has(tune({"cover", "db.yaml", "all.jsonl", "--slowdown", "1.5", "-o", "o.yaml"}).out, "1 of 8 conf"));
}

TEST_F(Cover, HasFewBinariesRatherThanFewConfigurations) {
  // BM=3 is the best for each size with another $S; two configurations of two other binaries are nearly as good.
  const auto params = [](std::int64_t bm, std::int64_t s) {
    return std::vector<Setting>{{"BM", bm, false}, {"S", s, true}};
  };
  std::string all;
  for (const int m : {64, 128, 256}) {
    const std::int64_t s = m / 64;
    Best best;
    best.m = m;
    best.params = fmt::format("{{BM: 3, $S: {}}}", s);
    best.more = "  artifact: a3\n";
    tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
    Times times = {{params(1, 1), m < 256 ? 1.01 : 2}, {params(2, 1), m < 256 ? 2 : 1.01}};
    for (const std::int64_t other : {1, 2, 4}) times.push_back({params(3, other), other == s ? 1 : 2});
    all += journal(m, times);
  }
  sandbox_.write("all.jsonl", all);
  const std::string said = tune({"cover", "db.yaml", "all.jsonl"}).out;
  EXPECT_TRUE(has(said,
                  "3 of 5 configurations in 1 binary for 3 sizes; worst slowdown 1.000, mean 1.000; fewer "
                  "binaries do not suffice\n"))
      << said;
}

TEST_F(Cover, AnswersForOtherSizesAndSaysSo) {
  write_runs();
  tune({"cover", "db.yaml", "all.jsonl"});
  write_tuning_file("", "{BM: [1, 2, 8], ALWAYS: 1}");
  const Words device = {"-n", "64", "-k", "64", "--device", "NVIDIA H200", "--yaml", "gemm.yaml", "-m"};
  const auto of = [&](const std::string& m) {
    Words words = device;
    words.push_back(m);
    return look_up(words);
  };
  EXPECT_TRUE(has(of("64").out, "match: exact\n"));
  const Result found = of("300");
  EXPECT_TRUE(has(found.out, "match: rule\n"));
  EXPECT_TRUE(has(found.out, "params:\n  BM: 1\n  ALWAYS: 1\nartifact: a1\n"));
  EXPECT_EQ(
      found.err,
      "note: there is no result of m=300 n=64 k=64; it is the rule's choice, and was not timed for these sizes\n");
  EXPECT_TRUE(has(of("40000").out, "  BM: 2\n"));
  Best other;
  other.m = 300;
  other.params = "{BM: 7, ALWAYS: 1}";
  EXPECT_EQ(tune({"merge", write("other.yaml", other), "-o", "db.yaml"}).err,
            "note: the rule of gemm on NVIDIA H200 was made without these results; tune cover makes it anew\n");
  EXPECT_TRUE(has(of("300").out, "match: exact\n"));
}

// Of other sizes only the tuning file says whether what was timed may be used.
TEST_F(Cover, AnswersForOtherSizesOnlyWhatTheTuningFileAllows) {
  write_runs();
  tune({"cover", "db.yaml", "all.jsonl"});
  const auto of = [&](const std::string& m, int code, bool with_file = true) {
    Words words = {"-n", "64", "-k", "64", "--device", "NVIDIA H200", "-m", m};
    if (with_file) words.insert(words.end(), {"--yaml", "gemm.yaml"});
    return look_up(words, code);
  };
  const std::string params = "{BM: [1, 2, 8], ALWAYS: 1}";
  EXPECT_TRUE(has(of("300", 1, false).err, "only the tuning file can say: name it with --yaml\n"));
  EXPECT_TRUE(has(of("64", 0, false).out, "match: exact\n"));
  write_tuning_file("constraints:\n  - {if: m <= 300, because: rows are few}\n", params);
  EXPECT_TRUE(has(of("300", 0).out, "artifact: a1\n"));
  EXPECT_TRUE(has(of("301", 1).err, "and BM=1 ALWAYS=1 is not valid for it: rows are few\n"));
  // A macro that depends on m: the binary is another one for other sizes.
  write_tuning_file("let: {ROWS: \"min(m, 300)\"}\n", params);
  sandbox_.write("gemm.cu", "extern \"C\" __global__ void gemm(const float*) { float rows[ROWS]; }\n");
  const Result other = of("200", 0);
  EXPECT_FALSE(has(other.out, "artifact:"));
  EXPECT_FALSE(has(other.out, "store_path:"));
  EXPECT_TRUE(has(other.err, "no binary that was timed is for m=200 n=64 k=64: values that are compiled in differ"));
  write_tuning_file("", "{BM: [8, 16], ALWAYS: 1}");
  EXPECT_TRUE(has(of("300", 0).out, "  BM: 1\n")) << "a value outside of the grid may be valid";
  write_tuning_file("", "{BM: [1], OTHER: 1}");
  EXPECT_TRUE(has(of("300", 1).err, "is not valid for it: unknown parameter 'ALWAYS'"));
  std::string yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", "name: other" + yaml.substr(yaml.find('\n')));
  EXPECT_TRUE(has(of("300", 2).err, "this is the tuning file of 'other', and the results are of 'gemm'"));
  write_tuning_file("", params);
  yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", yaml.replace(yaml.find("k: 64"), 5, "k: 64, layout: {c: col}"));
  EXPECT_TRUE(has(of("300", 2).err, "its problem is another one than that of the results"));
}

// A database of before results said how they were launched.
TEST_F(Cover, OtherSizesGetNothingWhoseLaunchIsNotKnown) {
  write_runs();
  std::string database = sandbox_.read("db.yaml");
  database.erase(database.find("    code: c\n"), 12);  // of one of the six
  sandbox_.write("db.yaml", database);
  write_tuning_file("", "{BM: [1, 2, 8, 16, 32, 64, 128, 256], ALWAYS: 1}");
  EXPECT_EQ(tune({"cover", "db.yaml", "all.jsonl"}).err,
            "note: only these sizes will get a configuration, because some results have no code:, the hash of how they "
            "were launched; tune retime writes it\n");
  const auto of = [&](const char* m, int code, Words more = {}) {
    Words words = {"-n", "64", "-k", "64", "--device", "NVIDIA H200", "--yaml", "gemm.yaml", "-m", m};
    words.insert(words.end(), more.begin(), more.end());
    return look_up(words, code);
  };
  const std::string refused =
      "those of other sizes cannot be used for it, because some have no code:, the hash of how they were launched; "
      "tune retime writes it\n";
  EXPECT_TRUE(has(of("300", 1).err, "there is no result of m=300 n=64 k=64, and " + refused));
  EXPECT_TRUE(has(of("100", 1, {"--key", "pow2"}).err, refused));
  EXPECT_TRUE(has(of("64", 0).out, "match: exact\n"));
}

TEST_F(Cover, SaysThatTheSourceIsAnother) {
  write_runs();
  std::string database = sandbox_.read("db.yaml");
  for (auto at = database.find("    params:"); at != std::string::npos; at = database.find("    params:", at + 30))
    database.insert(at, "    source: abc\n");
  sandbox_.write("db.yaml", database);
  write_tuning_file("", "{BM: [1, 2, 8, 16, 32, 64, 128, 256], ALWAYS: 1}");
  EXPECT_TRUE(has(
      look_up({"-n", "64", "-k", "64", "--device", "NVIDIA H200", "--yaml", "gemm.yaml", "-m", "100", "--key", "pow2"})
          .err,
      "note: the source is not the one that was tuned; its constraints may be others than those of the binary"));
}

// Where a macro depends on the sizes, each size has a binary of its own, which the rule's table keeps.
TEST_F(Cover, KeepsTheBinaryOfEachSize) {
  std::string all;
  for (const int m : {64, 128}) {
    Best best;
    best.m = m;
    best.params = "{BM: 1, ALWAYS: 1}";
    best.more = "  artifact: a1of" + std::to_string(m) + "\n  code: c\n";
    tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
    std::string text = journal(m, {{{{"BM", std::int64_t{1}, false}, {"ALWAYS", std::int64_t{1}, false}}, 1}});
    text.replace(text.find("\"a1\""), 4, "\"a1of" + std::to_string(m) + "\"");
    all += text;
  }
  sandbox_.write("all.jsonl", all);
  tune({"cover", "db.yaml", "all.jsonl"});
  const std::string csv = tune({"export", "db.yaml", "--format", "csv"}).out;
  EXPECT_TRUE(has(csv, ",64,64,64,1,1,1,,,a1of64,"));
  EXPECT_TRUE(has(csv, ",128,64,64,1,1,1,,,a1of128,"));
  // Other sizes get the one in which everything is as it would be for them, and a reason if there is none.
  write_tuning_file("let: {ROWS: \"min(m, 128)\"}\n", "{BM: [1, 2, 8], ALWAYS: 1}");
  sandbox_.write("gemm.cu", "extern \"C\" __global__ void gemm(const float*) { float rows[ROWS]; }\n");
  const auto of = [&](const char* m) {
    return look_up({"-n", "64", "-k", "64", "--device", "NVIDIA H200", "--yaml", "gemm.yaml", "-m", m});
  };
  EXPECT_TRUE(has(of("500").out, "artifact: a1of128\n"));
  EXPECT_FALSE(has(of("100").out, "artifact:"));
  EXPECT_TRUE(has(of("100").err, "no binary that was timed is for m=100"));
}

TEST_F(Cover, TellsWhatAKeyCosts) {
  write_runs();
  const Result pow2 = tune({"lookup", "--db", "db.yaml", "--key", "m=m*2", "--validate", "all.jsonl"});
  EXPECT_EQ(pow2.out,
            "slowdown  sizes -> by the key\n"
            "   2.000  m=64 n=64 k=64 -> m=128 n=64 k=64\n"
            "   2.000  m=128 n=64 k=64 -> m=256 n=64 k=64\n"
            "   2.000  m=256 n=64 k=64 -> m=512 n=64 k=64\n"
            "   2.000  m=512 n=64 k=64 -> m=1024 n=64 k=64\n"
            "   2.000  m=1024 n=64 k=64 -> m=2048 n=64 k=64\n"
            "       -  m=2048 n=64 k=64 -> m=4096 n=64 k=64\n"
            "5 of 6 sizes that are not their own key find a result by it: mean slowdown 2.000, worst 2.000\n");
  EXPECT_TRUE(has(tune({"lookup", "--db", "db.yaml", "--validate", "all.jsonl"}, 2).err, "--validate requires --key"));
}

TEST_F(Cover, PrefersWhatIsNeededOften) {
  write_runs();
  sandbox_.write("w.yaml", "- {M: 2048, N: 64, K: 64, calls: 1000}\n");
  const Result weighted = tune({"cover", "db.yaml", "all.jsonl", "--slowdown", "2", "--weights", "w.yaml"});
  EXPECT_TRUE(has(weighted.out, " use  sizes   BM  ALWAYS\n   0      6  256       1\n")) << weighted.out;
}

TEST_F(Cover, SaysWhichTimesItNeeds) {
  write_runs();
  sandbox_.write("some.jsonl", journal(64) + journal(128));
  const std::string db = sandbox_.read("db.yaml");
  EXPECT_TRUE(has(tune({"cover", "db.yaml", "some.jsonl"}, 2).err,
                  "none of the given runs has those of m=256 n=64 k=64, m=512 n=64 k=64, m=1024 n=64 k=64, m=2048 n=64 "
                  "k=64; give the journals"));
  std::string other = sandbox_.read("all.jsonl");
  other.replace(other.find("\"a8\""), 4, "\"b8\"");
  sandbox_.write("other.jsonl", other);
  const Result refused = tune({"cover", "db.yaml", "other.jsonl"}, 2);
  EXPECT_TRUE(has(refused.err,
                  "note: other.jsonl: what was timed of m=64 n=64 k=64 is other code than that of the "
                  "database, and is left out\n"));
  sandbox_.write("two.jsonl", std::regex_replace(journal(64) + journal(128), std::regex("\"a(\\d)"), "\"b$1"));
  const Result two = tune({"cover", "db.yaml", "two.jsonl"}, 2);
  EXPECT_TRUE(has(two.err, "note: two.jsonl: what was timed of m=64 n=64 k=64 and 1 more is other code than that"));
  EXPECT_FALSE(has(two.err, "m=128 n=64 k=64 is other code"));
  EXPECT_TRUE(has(tune({"cover", "db.yaml", "db.yaml"}, 2).err, "db.yaml:1: "));
  EXPECT_TRUE(has(tune({"cover", "db.yaml", "all.jsonl", "--slowdown", "0.5"}, 2).err, "--slowdown"));
  EXPECT_TRUE(has(tune({"cover", "db.yaml", "all.jsonl", "--device", "B200"}, 2).err,
                  "there is no result of the device 'B200', but of NVIDIA H200 (sm_90a)"));
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
}

// The recorded shapes share their builds, so each configuration of the rule has one binary for all of them.
TEST_F(Cover, OfTheRecordedShapesNamesABinaryForEachConfiguration) {
  const std::string recorded = sandbox_.read(TUNE_SOURCE_DIR "/configs/h200/gemm_wgmma.db.yaml");
  sandbox_.write("db.yaml", recorded);
  const std::string journal = TUNE_SOURCE_DIR "/configs/recorded/gemm_wgmma_shapes_h200.jsonl.gz";
  const std::string said = tune({"cover", "db.yaml", journal, "--slowdown", "1.04"}).out;
  EXPECT_TRUE(has(said, "5 of 336 configurations for 12 sizes; worst slowdown 1.02")) << said;
  EXPECT_EQ(sandbox_.read("db.yaml"), recorded);
  // Two of the six differ in the run-time parameter $GROUP only.
  EXPECT_TRUE(has(tune({"cover", "db.yaml", journal, "--slowdown", "1.02", "-o", "six.yaml"}).out,
                  "6 of 336 configurations in 5 binaries for 12 sizes; worst slowdown 1.01"));
  const std::string found = tune({"lookup", "--db", "db.yaml", "--device", "NVIDIA H200", "-m", "4000", "-n", "4096",
                                  "-k", "4096", "--yaml", TUNE_SOURCE_DIR "/configs/gemm_wgmma.yaml"})
                                .out;
  EXPECT_TRUE(has(found, "match: rule\n")) << found;
  EXPECT_TRUE(has(found, "/kernel.cubin\n")) << found;
}

}  // namespace
}  // namespace tune::cli::cli_cover_test

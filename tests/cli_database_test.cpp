// Results of several tunings in one database, over the real binary: merging, looking up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli.h"
#include "has.h"

namespace tune::cli::cli_database_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// What a best YAML says, as far as a database takes it.
struct Best {
  int m = 64, n = 64, k = 64;
  std::string params = "{BM: 8}";
  std::string time = "1";
  std::string device = "NVIDIA H200";
  std::string driver = "580.1";
  std::string more;        // lines within result:
  std::string types = "";  // within gemm
};

std::string text_of(const Best& best) {
  const std::string sizes =
      "m: " + std::to_string(best.m) + ", n: " + std::to_string(best.n) + ", k: " + std::to_string(best.k);
  return "name: gemm\nfile: gemm.cu\nkernel: gemm\nbackend: cuda\nproblem: {gemm: {" + sizes + best.types +
         "}}\nparams: " + best.params + "\nlaunch: {grid: 1, block: 1, args: [A]}\nresult:\n  checked: yes\n" +
         "  tie: no\n  time_ms: " + best.time + "\n" + best.more + "device: {name: " + best.device + ", driver: '" +
         best.driver + "', arch: sm_90a, compiler: nvrtc 13.0}\n";
}

class DatabaseFile : public testing::Test {
 protected:
  std::string write(const std::string& name, const Best& best) const {
    sandbox_.write(name, text_of(best));
    return name;
  }

  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }

  /// A database of three sizes on an H200.
  void write_database() const {
    Best best;
    for (const int m : {64, 128, 1024}) {
      best.m = m;
      best.params = "{BM: " + std::to_string(m / 8) + ", $S: 2}";
      tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
    }
  }

  Result look_up(Words more, int code = 0) const {
    Words words = {"lookup", "--db", "db.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words, code);
  }

  Sandbox sandbox_;
};

TEST_F(DatabaseFile, HasTheBestOfATuning) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--tune", "--filter", "BM=4", "--output", "best"});
  EXPECT_EQ(tune({"merge", "best.yaml", "-o", "db.yaml"}).out, "db.yaml: 1 result: 1 new, 0 better than before\n");
  const std::string db = sandbox_.read("db.yaml");
  for (const char* line : {"tune_database: 1\n", "  - kernel: gemm\n", "    backend: cpu\n",
                           "    sizes: {m: 64, n: 64, k: 64}\n", "    problem: {a: f32, acc: f32, b: f32, c: f32, ",
                           "    source: ", "    versions: {compiler: ", "    params: {BM: 4}\n",
                           "    time_ms: ", "    interval_ms: [", "    artifact: ", "    date: '20", "end: yes\n"})
    EXPECT_TRUE(has(db, line)) << line << "\n" << db;
  const std::string found = tune({"lookup", "--db", "db.yaml", "-m", "64", "-n", "64", "-k", "64"}).out;
  EXPECT_TRUE(has(found, "match: exact\ndevice_match: same\n")) << found << "this machine's device is asked";
  EXPECT_TRUE(has(found, "params:\n  BM: 4\n"));
}

TEST_F(DatabaseFile, KeepsTheBetterWhateverTheOrderAndHoweverOften) {
  Best slow, fast, other;
  slow.time = "2";
  fast.params = "{BM: 16}";
  other.m = 128;
  other.types = ", a: bf16";
  const Words files = {write("slow.yaml", slow), write("fast.yaml", fast), write("other.yaml", other)};
  tune({"merge", files[0], files[1], files[2], "-o", "db.yaml"});
  const std::string db = sandbox_.read("db.yaml");
  EXPECT_TRUE(has(db, "params: {BM: 16}\n")) << db;
  EXPECT_FALSE(has(db, "time_ms: 2\n"));
  Words order = {files[0], files[1], files[2]};
  std::ranges::sort(order);
  do {
    tune({"merge", order[0], "-o", "again.yaml"});
    tune({"merge", order[1], order[2], "-o", "again.yaml"});
    EXPECT_EQ(sandbox_.read("again.yaml"), db);
    fs::remove(sandbox_.folder() / "again.yaml");
  } while (std::next_permutation(order.begin(), order.end()));
  const auto written = fs::last_write_time(sandbox_.folder() / "db.yaml");
  EXPECT_EQ(tune({"merge", "db.yaml", files[1], "-o", "db.yaml"}).out,
            "db.yaml: 2 results: 0 new, 0 better than before\n");
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
  EXPECT_EQ(fs::last_write_time(sandbox_.folder() / "db.yaml"), written) << "nothing changed, so nothing is written";
}

TEST_F(DatabaseFile, PrefersWhatWasCheckedAndComplete) {
  Best unchecked, complete, interrupted;
  unchecked.time = "1";
  interrupted.time = "2";
  interrupted.more = "  finals: interrupted\n";
  complete.time = "3";
  complete.params = "{BM: 32}";
  std::string text = text_of(unchecked);
  sandbox_.write("unchecked.yaml", text.replace(text.find("checked: yes"), 12, "checked: no"));
  tune({"merge", "unchecked.yaml", write("i.yaml", interrupted), write("c.yaml", complete), "-o", "db.yaml"});
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "params: {BM: 32}\n    time_ms: 3\n"));
}

TEST_F(DatabaseFile, HasNoResultThatLosesAgainstTheDefault) {
  Best loser, tied;
  loser.more = "  ratio_to_best:\n    default: 0.95\n    vendor: 1.1\n";
  tied.m = 128;
  tied.more = "  ratio_to_best:\n    default: 0.998\n    vendor: 0.9\n    vendor best: 0.8\n";
  const Result result = tune({"merge", write("a.yaml", loser), write("b.yaml", tied), "-o", "db.yaml"});
  EXPECT_EQ(result.err, "note: gemm m=64 n=64 k=64 is left out: default is faster\n");
  EXPECT_EQ(result.out, "db.yaml: 1 result: 1 new, 0 better than before\n");
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "ratio: {default: 0.998, vendor: 0.9, vendor best: 0.8}\n"))
      << "the vendor may be faster";
}

TEST_F(DatabaseFile, LosesNothingIfSeveralProcessesWriteIt) {
  constexpr int kWriters = 8;
  std::vector<std::unique_ptr<Background>> writers;
  for (int i = 0; i < kWriters; ++i) {
    Best best;
    best.m = 64 * (i + 1);
    const std::string name = write("w" + std::to_string(i) + ".yaml", best);
    writers.push_back(std::make_unique<Background>(sandbox_, Words{"merge", name, "-o", "db.yaml"}));
  }
  for (const auto& writer : writers) EXPECT_EQ(writer->wait().code, 0);
  EXPECT_EQ(tune({"merge", "db.yaml", "-o", "db.yaml"}).out, "db.yaml: 8 results: 0 new, 0 better than before\n");
}

TEST_F(DatabaseFile, RefusesWhatIsNone) {
  write_database();
  const std::string db = sandbox_.read("db.yaml");
  const auto refuses = [&](const std::string& text, const std::string& why) {
    sandbox_.write("bad.yaml", text);
    const Result result = tune({"merge", "bad.yaml", "-o", "db.yaml"}, 2);
    EXPECT_TRUE(has(result.err, "bad.yaml")) << result.err;
    EXPECT_TRUE(has(result.err, why)) << result.err;
    EXPECT_EQ(sandbox_.read("db.yaml"), db);
    EXPECT_EQ(tune({"merge", "one.yaml", "-o", "bad.yaml"}, 2).out, "");
    EXPECT_EQ(sandbox_.read("bad.yaml"), text) << "what is not understood is not overwritten";
  };
  refuses("a: [", "bad.yaml:");
  refuses("name: gemm\n", "this is neither a database nor the best YAML of a tuning");
  refuses(text_of({}) + "objective: energy\n",
          "the objective is 'energy'; a database keeps the results with the shortest");
  refuses("tune_database: 2\nresults: []\nend: yes\n", "the database is of version 2, and this tune knows version 1");
  refuses(db.substr(0, db.rfind("  - kernel")), "a part of it may be missing");
  refuses(db.substr(0, db.find("    time_ms")), "bad.yaml:");
  refuses("tune_database: 1\nresults: [{kernel: a, bakend: cpu}]\nend: yes\n", "unknown key 'bakend' in a result");
  refuses("tune_database: 1\nresults: 7\nend: yes\n", "results must be a list, not '7'");
  std::string negative = db;
  negative.replace(negative.find("time_ms: 1"), 10, "time_ms: -1");
  refuses(negative, "time_ms must be above 0");
  EXPECT_TRUE(has(tune({"merge", "missing.yaml", "-o", "db.yaml"}, 2).err, "missing.yaml: cannot be read"));
  EXPECT_TRUE(has(tune({"merge", "one.yaml", "-o", "no/db.yaml"}, 4).err, "cannot write no/db.yaml: "));
  EXPECT_TRUE(has(tune({"merge", "missing.yaml", "-o", "new.yaml"}, 2).err, "missing.yaml"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "new.yaml"));
}

TEST_F(DatabaseFile, IsAsItWasIfTheDiskIsFull) {
  write_database();
  Best other;
  other.m = 7;
  write("other.yaml", other);
  const std::string db = sandbox_.read("db.yaml");
  const auto files = sandbox_.files();
  // A file must not grow: the same error path as that of a full disk.
  for (const char* name : {"db.yaml", "new.yaml"}) {
    const std::string command = "cd '" + sandbox_.folder().string() + "' && { trap '' XFSZ; ulimit -f 0; " +
                                TUNE_BIN_DIR + "/tune merge other.yaml -o " + name +
                                " 2>&1; echo code $?; } | cat > said";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(has(sandbox_.read("said"), std::string("cannot write ")));
    EXPECT_TRUE(has(sandbox_.read("said"), "File too large; fix this, or choose another place\ncode 4\n"));
    fs::remove(sandbox_.folder() / "said");
  }
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
  EXPECT_EQ(sandbox_.files(), files) << "nothing is left over";
}

TEST_F(DatabaseFile, OfAnotherDeviceIsRefusedOrMarked) {
  write_database();
  const Words sizes = {"-m", "64", "-n", "64", "-k", "64", "--device"};
  const auto of = [&](const std::string& device, int code = 0) {
    Words words = sizes;
    words.push_back(device);
    return look_up(words, code);
  };
  EXPECT_TRUE(has(of("NVIDIA H200").out, "match: exact\ndevice_match: same\n"));
  EXPECT_EQ(of("NVIDIA H200").err, "");
  const Result refused = of("NVIDIA B200", 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(has(refused.err,
                  "there is no result of the device 'NVIDIA B200' or its architecture, but of NVIDIA H200 "
                  "(sm_90a)"));
  tune({"merge", "one.yaml", "--alias", "NVIDIA H200 NVL=NVIDIA H200", "-o", "db.yaml"});
  const Result alias = of("NVIDIA H200 NVL");
  EXPECT_TRUE(has(alias.out, "device_match: alias\n"));
  EXPECT_EQ(alias.err, "note: 'NVIDIA H200 NVL' is an alias; the result is of 'NVIDIA H200'\n");
  const Result arch = of("sm_90a");
  EXPECT_TRUE(has(arch.out, "device_match: architecture\n"));
  EXPECT_TRUE(has(arch.err,
                  "note: there is no result of 'sm_90a'; this one is of 'NVIDIA H200', which has the same "
                  "architecture, sm_90a\n"));
  EXPECT_TRUE(has(tune({"merge", "one.yaml", "--alias", "NVIDIA H200 NVL=NVIDIA H100", "-o", "db.yaml"}, 2).err,
                  "the device 'NVIDIA H200 NVL' is an alias of 'NVIDIA H200' and of 'NVIDIA H100'"));
  // Without --device it is this machine's, for which there is no worker or no device.
  sandbox_.environment["CUDA_VISIBLE_DEVICES"] = "";
  const Result here = look_up({"-m", "64", "-n", "64", "-k", "64"}, 4);
  EXPECT_TRUE(has(here.err, "to look for another device, name it with --device, such as one of NVIDIA H200 (sm_90a)"));
}

TEST_F(DatabaseFile, ABestYamlOfAnotherDeviceSaysSoHoweverItIsRun) {
  sandbox_.write_script("{T: 1, M: [8, 9]}");
  std::string yaml = sandbox_.read("bench.yaml");
  sandbox_.write("best.yaml", yaml + "result: {time_ms: 1}\ndevice: {name: Old One, arch: x, driver: '1'}\n");
  for (const Words& words : {Words{"best.yaml"}, {"best.yaml", "--tune"}, {"best.yaml", "--param", "M:8"}})
    EXPECT_TRUE(has(tune(words).out,
                    "note: the result in best.yaml was measured under other conditions: device Old One instead of "));
  EXPECT_EQ(tune({"bench.yaml"}).out.find("other conditions"), std::string::npos);
}

TEST_F(DatabaseFile, FindsOtherSizesOnlyByAKeyThatWasAskedFor) {
  write_database();
  const Words sizes = {"-m", "100", "-n", "64", "-k", "64", "--device", "NVIDIA H200"};
  const auto with = [&](const Words& more, int code = 0) {
    Words words = sizes;
    words.insert(words.end(), more.begin(), more.end());
    return look_up(words, code);
  };
  EXPECT_TRUE(has(with({}, 1).err, "there is no result of m=100 n=64 k=64 on 'NVIDIA H200', and no rule"));
  const Result rounded = with({"--key", "pow2"});
  EXPECT_TRUE(has(rounded.out, "match: key\n"));
  EXPECT_TRUE(has(rounded.out, "sizes: {m: 128, n: 64, k: 64}\n"));
  EXPECT_TRUE(has(rounded.out, "params:\n  BM: 16\n  $S: 2\n"));
  EXPECT_EQ(rounded.err, "note: there is no result of m=100 n=64 k=64; by the key it is that of m=128 n=64 k=64\n");
  EXPECT_TRUE(has(with({"--key", "m=m//64*64"}).out, "sizes: {m: 64, n: 64, k: 64}\n"));
  EXPECT_TRUE(has(look_up({"-m", "64"}, 2).err, "the results are of sizes such as m=1024 n=64 k=64; give all of them"));
  EXPECT_TRUE(has(with({"--key", "q=m"}, 2).err, "--key q=m: there is no size 'q'"));
  EXPECT_TRUE(has(with({"--key", "m=m//0"}, 2).err, "--key m=m//0: division by zero"));
  EXPECT_TRUE(has(with({"--key", "m=x"}, 2).err, "unknown name 'x'"));
  EXPECT_TRUE(has(with({"--key", "pow3"}, 2).err, "it must be pow2 or NAME=EXPRESSION"));
  EXPECT_TRUE(has(with({"--size", "batch=0"}, 2).err, "--size: 'batch=0' must be NAME=N with a positive integer"));
}

TEST_F(DatabaseFile, AsksWhichOfSeveralIsMeant) {
  write_database();
  Best other;
  other.types = ", a: bf16";
  tune({"merge", write("bf16.yaml", other), "-o", "db.yaml"});
  const Words sizes = {"-m", "64", "-n", "64", "-k", "64", "--device", "NVIDIA H200"};
  EXPECT_TRUE(has(look_up(sizes, 2).err, "choose one with --problem a=bf16 or f32"));
  Words chosen = sizes;
  chosen.insert(chosen.end(), {"--problem", "a=bf16"});
  EXPECT_TRUE(has(look_up(chosen).out, "a: bf16"));
  chosen.back() = "a=f64";
  EXPECT_TRUE(has(look_up(chosen, 2).err, "no result in the database is of the given --kernel and --problem"));
  Best newer;
  newer.driver = "590.1";
  newer.params = "{BM: 64}";
  newer.time = "3";
  tune({"merge", write("newer.yaml", newer), "-o", "versions.yaml"});
  tune({"merge", "one.yaml", "-o", "versions.yaml"});
  EXPECT_TRUE(has(sandbox_.read("versions.yaml"), "driver: '580.1'")) << "each version has its own result";
}

TEST_F(DatabaseFile, AsksForWhatADatabaseLeavesOutWhereItIsTheDefault) {
  Best best;
  best.types = ", a: e4m3";
  tune({"merge", write("promoted.yaml", best), "-o", "db.yaml"});
  best.types += ", fast_accum: true";
  best.params = "{BM: 16}";
  tune({"merge", write("fast.yaml", best), "-o", "db.yaml"});
  Words words = {"-m", "64", "-n", "64", "-k", "64", "--device", "NVIDIA H200"};
  EXPECT_TRUE(has(look_up(words, 2).err, "choose one with --problem fast_accum=false or true"));
  words.insert(words.end(), {"--problem", "fast_accum=false"});
  EXPECT_TRUE(has(look_up(words).out, "  BM: 8\n"));
  words.back() = "fast_accum=true";
  EXPECT_TRUE(has(look_up(words).out, "  BM: 16\n"));
}

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
      best.more = "  artifact: a" + std::to_string(m / 8) + "\n";
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
            " use  sizes  params\n"
            "   0      3  BM=1 ALWAYS=1\n"
            "   1      3  BM=2 ALWAYS=1\n"
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
  const Words device = {"-n", "64", "-k", "64", "--device", "NVIDIA H200", "-m"};
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
  EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "header"}).out,
                  "  if (m == 300 && n == 64 && k == 64) return {&kConfigurations[2], Match::exact};\n"));
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
            "5 of 6 sizes find a result by the key: mean slowdown 2.000, worst 2.000\n");
  EXPECT_TRUE(has(tune({"lookup", "--db", "db.yaml", "--validate", "all.jsonl"}, 2).err, "--validate requires --key"));
}

TEST_F(Cover, PrefersWhatIsNeededOften) {
  write_runs();
  sandbox_.write("w.yaml", "- {M: 2048, N: 64, K: 64, calls: 1000}\n");
  const Result weighted = tune({"cover", "db.yaml", "all.jsonl", "--slowdown", "2", "--weights", "w.yaml"});
  EXPECT_TRUE(has(weighted.out, "   0      6  BM=256 ALWAYS=1\n")) << weighted.out;
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
  EXPECT_TRUE(has(said, "5 of 336 configurations for 12 sizes; worst slowdown 1.036")) << said;
  EXPECT_EQ(sandbox_.read("db.yaml"), recorded);
  // Two of the six differ in the run-time parameter $GROUP only.
  EXPECT_TRUE(has(tune({"cover", "db.yaml", journal, "--slowdown", "1.03", "-o", "six.yaml"}).out,
                  "6 of 336 configurations in 5 binaries for 12 sizes; worst slowdown 1.02"));
  const std::string found =
      tune({"lookup", "--db", "db.yaml", "--device", "NVIDIA H200", "-m", "4000", "-n", "4096", "-k", "4096"}).out;
  EXPECT_TRUE(has(found, "match: rule\n")) << found;
  EXPECT_TRUE(has(found, "/kernel.cubin\n")) << found;
}

}  // namespace
}  // namespace tune::cli::cli_database_test

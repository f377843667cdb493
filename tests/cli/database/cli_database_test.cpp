// Results of several tunings in one database, over the real binary: merging, looking up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/database_file.h"
#include "support/has.h"

namespace tune::cli::cli_database_test {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_EQ(tune({"lookup", "--db", "db.yaml", "--size", "n=64", "--size", "k=64", "--size", "m=64"}).out, found)
      << "in any order";
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
    tune({"merge", order[0], "-o", "new/again.yaml"});
    tune({"merge", order[1], order[2], "-o", "new/again.yaml"});
    EXPECT_EQ(sandbox_.read("new/again.yaml"), db);
    fs::remove(sandbox_.folder() / "new/again.yaml");
  } while (std::next_permutation(order.begin(), order.end()));
  const auto written = fs::last_write_time(sandbox_.folder() / "db.yaml");
  EXPECT_EQ(tune({"merge", "db.yaml", files[1], "-o", "db.yaml"}).out,
            "db.yaml: 2 results: 0 new, 0 better than before\n");
  EXPECT_EQ(sandbox_.read("db.yaml"), db);
  EXPECT_EQ(fs::last_write_time(sandbox_.folder() / "db.yaml"), written) << "nothing changed, so nothing is written";
}

TEST_F(DatabaseFile, IsMadeWhereALinkLeadsToThatHasNoFileYet) {
  const std::string best = write("best.yaml", Best());
  fs::create_directory(sandbox_.folder() / "there");
  fs::create_symlink("there/next.yaml", sandbox_.folder() / "db.yaml");
  fs::create_symlink("file.yaml", sandbox_.folder() / "there/next.yaml");
  Background run(sandbox_, {"merge", best, "-o", "db.yaml"});
  ASSERT_TRUE(eventually([&] { return run.ended(); }));
  EXPECT_EQ(run.wait().out, "db.yaml: 1 result: 1 new, 0 better than before\n");
  EXPECT_TRUE(fs::is_symlink(sandbox_.folder() / "db.yaml"));
  EXPECT_TRUE(has(sandbox_.read("there/file.yaml"), "tune_database: 1\n"));
  fs::create_symlink("loop.yaml", sandbox_.folder() / "loop.yaml");
  EXPECT_TRUE(has(tune({"merge", best, "-o", "loop.yaml"}, 4).err, "loop.yaml: Too many levels of symbolic links"));
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

TEST_F(DatabaseFile, IsShownWithWhatAllResultsHaveInCommonAboveTheTable) {
  write_database();
  EXPECT_EQ(tune({"show", "db.yaml"}).out,
            "kernel: gemm\n"
            "device: NVIDIA H200\n"
            "problem: a: f32, acc: f32, b: f32, c: f32, layout_a: row, layout_b: row, layout_c: row\n"
            "in all: $S=2\n"
            "            sizes  params  met (ms)  +- %\n"
            "   m=64 n=64 k=64    BM=8         1     -\n"
            "  m=128 n=64 k=64   BM=16         1     -\n"
            " m=1024 n=64 k=64  BM=128         1     -\n"
            "3 results and 0 rules\n");
  EXPECT_EQ(tune({"show", "db.yaml", "--top", "1"}).out.find("in all"), std::string::npos);
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
  sandbox_.write("run.jsonl", "{}\n{}\n");
  for (const Words& words : {Words{"merge", "run.jsonl", "-o", "db.yaml"},
                             {"export", "run.jsonl", "--format", "csv"},
                             {"lookup", "--db", "run.jsonl", "-m", "64"}})
    EXPECT_TRUE(has(tune(words, 2).err, "run.jsonl: this is the journal of a run, and neither a database nor the"));
  EXPECT_TRUE(has(tune({"merge", "one.yaml", "-o", "one.yaml/db.yaml"}, 4).err, "cannot write one.yaml/db.yaml: "));
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
  EXPECT_EQ(of("h200").out, of("NVIDIA H200").out);
  EXPECT_EQ(of("h200").err, "");
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
  EXPECT_FALSE(has(here.err, "--build-only")) << "an option of tunings";
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

TEST_F(DatabaseFile, SaysWhichResultsAreUncertain) {
  Best best;
  best.more = "  interval_ms: [0.92, 1.1]\n";
  EXPECT_EQ(tune({"merge", write("one.yaml", best), "-o", "db.yaml"}).err, "");
  best.m = 128;
  best.more = "  interval_ms: [0.5, 4]\n  code: abc\n";
  EXPECT_EQ(tune({"merge", write("two.yaml", best), "-o", "db.yaml"}).err,
            "note: gemm m=128 n=64 k=64 is hardly known; tune it again\n");
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "    code: abc\n")) << "it is kept, too";
}

// As tune retime finds the time again, and the launch with it.
TEST_F(DatabaseFile, AResultWhoseLaunchIsKnownReplacesAFasterOne) {
  Best best;
  best.more = "  artifact: a\n";
  tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
  best.time = "1.01";
  best.more += "  code: abc\n";
  EXPECT_TRUE(has(tune({"merge", write("two.yaml", best), "-o", "db.yaml"}).out, "0 new, 1 better than before"));
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "    code: abc\n    time_ms: 1.01\n"));
}

TEST_F(DatabaseFile, FindsOtherSizesOnlyByAKeyThatWasAskedFor) {
  write_database();
  write_tuning_file();
  const Words sizes = {"-m", "100", "-n", "64", "-k", "64", "--device", "NVIDIA H200"};
  EXPECT_TRUE(has(look_up({"-m", "100", "-n", "64", "-k", "64", "--device", "NVIDIA H200", "--key", "pow2"}, 1).err,
                  "there is one that was timed for m=128 n=64 k=64"));
  const auto with = [&](const Words& more, int code = 0) {
    Words words = sizes;
    words.insert(words.end(), {"--yaml", "gemm.yaml"});
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

TEST_F(DatabaseFile, HasAResultForEachEpilogue) {
  Best best;
  tune({"merge", write("plain.yaml", best), "-o", "db.yaml"});
  const std::string plain = sandbox_.read("db.yaml");
  EXPECT_FALSE(has(plain, "epilogue")) << "databases of plain products are what they were";
  best.types = ", epilogue: silu, residual: true";
  best.params = "{BM: 16}";
  std::string text = text_of(best);
  text.replace(text.find("args: [A]"), 9, "args: [A, residual]")
      .insert(text.find("launch:"), "build: {defines: [epilogue]}\n");
  sandbox_.write("silu.yaml", text);
  tune({"merge", "silu.yaml", "-o", "db.yaml"});
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "epilogue: silu"));
  const Words words = {"-m", "64", "-n", "64", "-k", "64", "--device", "NVIDIA H200", "--problem"};
  const auto of = [&](const std::string& problem) {
    Words all = words;
    all.push_back(problem);
    return look_up(all).out;
  };
  EXPECT_TRUE(has(of("epilogue=silu"), "  BM: 16\n"));
  EXPECT_TRUE(has(of("epilogue=none"), "  BM: 8\n"));
}

TEST_F(DatabaseFile, ProductsWithScalesAreProblemsOfTheirOwn) {
  Best best;
  best.types = ", a: e4m3, b: e4m3, c: bf16, acc: f32";
  tune({"merge", write("plain.yaml", best), "-o", "db.yaml"});
  EXPECT_FALSE(has(sandbox_.read("db.yaml"), "scale")) << "databases of plain products are what they were";
  best.types += ", scale_a: 1x128, scale_b: 128x128";
  best.params = "{BM: 16}";
  std::string text = text_of(best);
  text.replace(text.find("args: [A]"), 9, "args: [A, scale_a, scale_b]");
  sandbox_.write("scaled.yaml", text);
  tune({"merge", "scaled.yaml", "-o", "db.yaml"});
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "scale_b: 128x128"));
  Words words = {"-m", "64", "-n", "64", "-k", "64", "--device", "NVIDIA H200", "--problem", "scale_a=1x128"};
  EXPECT_TRUE(has(look_up(words).out, "  BM: 16\n"));
  words.back() = "scale_a=none";
  EXPECT_TRUE(has(look_up(words).out, "  BM: 8\n"));
}

TEST_F(DatabaseFile, EachNumberAndRoutingOfGroupsIsAProblemOfItsOwn) {
  Best best;
  tune({"merge", write("plain.yaml", best), "-o", "db.yaml"});
  const auto add = [&](const std::string& groups, const std::string& params) {
    best.types = ", groups: " + groups;
    best.params = params;
    std::string text = text_of(best);
    text.replace(text.find("args: [A]"), 9, "args: [A, group_offsets]");
    sandbox_.write("grouped.yaml", text);
    EXPECT_EQ(tune({"merge", "grouped.yaml", "-o", "db.yaml"}).code, 0);
  };
  add("4", "{BM: 16}");
  add("8", "{BM: 32}");
  add("8, routing: zipf 1.0", "{BM: 64}");
  add("[60, 0, 4]", "{BM: 128}");
  const std::string database = sandbox_.read("db.yaml");
  for (const char* part : {"groups: 4", "routing: even", "routing: zipf 1", "routing: listed 0-60 "})
    EXPECT_TRUE(has(database, part)) << part << database;
  const auto of = [&](const std::string& routing, const std::string& groups) {
    Words words = {"-m", "64", "-n", "64", "-k", "64", "--device", "NVIDIA H200", "--problem", "routing=" + routing};
    if (!groups.empty()) words.insert(words.end(), {"--size", "groups=" + groups});
    return look_up(words).out;
  };
  EXPECT_TRUE(has(of("even", "4"), "  BM: 16\n"));
  EXPECT_TRUE(has(of("even", "8"), "  BM: 32\n"));
  EXPECT_TRUE(has(of("zipf 1", "8"), "  BM: 64\n"));
}

}  // namespace
}  // namespace tune::cli::cli_database_test

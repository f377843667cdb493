#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "platform/process/process.h"
#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_simulate_test {
namespace {

using Words = std::vector<std::string>;

// Three specs of T were measured, one failed. T=8 was recorded nowhere.
const std::string kCache = R"({
"device_name": "NVIDIA A100", "kernel_name": "bench", "problem_size": [64], "tune_params_keys": ["T"],
"tune_params": {"T": [1, 2, 4]}, "objective": "time",
"cache": {
"2": {"T": 2, "time": 2.5, "GFLOP/s": 100.0, "nvml_power": 50.0, "compile_time": 1000, "verification_time": 0, "benchmark_time": 500},
"1": {"T": 1, "time": 4.5, "GFLOP/s": 80.0, "nvml_power": 20.0, "compile_time": 1000, "verification_time": 0, "benchmark_time": 500},
"4": {"T": 4, "time": "RuntimeFailedConfig", "compile_time": 2000, "verification_time": 0, "benchmark_time": 0}}
}
)";

class Simulate : public testing::Test {
 protected:
  Simulate() { sandbox_.write("run.json", kCache); }

  /// That it is refused with this text and exit code 2, and that nothing was written.
  void expect_refusal(const Words& arguments, const std::string& text) {
    EXPECT_TRUE(has(refusal(sandbox_, arguments), text));
  }

  Sandbox sandbox_;
};

TEST_F(Simulate, FindsTheBestRecordedSpecWithoutATuningFile) {
  const Result result = sandbox_.tune({"--simulate", "run.json", "--tune", "--output", "out/best"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 3\n2 of 3 measured\n"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 1\n"));
  EXPECT_TRUE(has(result.out, "params:\n  T: 2\n"));
  EXPECT_TRUE(has(result.out, "Elapsed tuning time: 5.0 (s)\n"));
  EXPECT_TRUE(has(result.out, "measure, reported: RuntimeFailedConfig"));
  EXPECT_TRUE(has(sandbox_.read("out/best.yaml"), "params:\n  T: 2\n"));
  EXPECT_TRUE(has(sandbox_.read("out/best.csv"), "measure,reported,RuntimeFailedConfig"));
}

TEST_F(Simulate, PrintsTheSameEveryTime) {
  const Words words = {"--simulate", "run.json", "--tune", "--max-evals", "2"};
  const Result first = sandbox_.tune(words);
  EXPECT_TRUE(has(first.out, "simulated: 2 of the 3 specs of run.json on NVIDIA A100"));
  EXPECT_EQ(first.out, sandbox_.tune(words).out);
}

TEST_F(Simulate, FinalsOfAnOlderVersionAreLeftOut) {
  sandbox_.write_script("{T: [1, 2]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "best"}).code, 0);
  const std::string journal = without_results(sandbox_.read("best.jsonl"));
  const std::string finals =
      "{\"record\":\"finals\",\"id\":\"x\",\"finalists\":[{\"mesh_idx\":0,\"params\":"
      "{\"T\":1},\"label\":\"\",\"rounds\":[0.001,0.001]}]}\n";
  sandbox_.write("older.jsonl", journal + finals);
  const std::string note =
      "note: older.jsonl: its finals are ignored, because an older version of tune recorded them\n";
  const Result result = sandbox_.tune({"--simulate", "older.jsonl", "--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, note)) << result.out;
  EXPECT_FALSE(has(result.out, "finals: ")) << result.out;
  EXPECT_FALSE(has(result.out, "not a valid record")) << result.out;
  EXPECT_FALSE(has(sandbox_.tune({"--simulate", "older.jsonl", "--tune", "--no-finals"}).out, note));
  EXPECT_FALSE(has(sandbox_.tune({"--simulate", "older.jsonl"}).out, note));
}

TEST_F(Simulate, TheSpaceIsTheTuningFiles) {
  sandbox_.write_script("{T: [4, 2]}");
  const Result result = sandbox_.tune({"bench.yaml", "--simulate", "run.json", "--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 1\n"));
  EXPECT_EQ(sandbox_.script_runs(), 0);
}

TEST_F(Simulate, TheRecordedTimesHaveAStateOfTheirOwn) {
  sandbox_.write_script("{T: [4, 2]}");
  const Result result =
      sandbox_.tune({"bench.yaml", "--simulate", "run.json", "--tune", "--state", "sustained", "--output", "best"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(has(sandbox_.read("best.yaml"), "sustained"));
}

TEST_F(Simulate, TheObjectiveMayBeAFigureOfTheRecording) {
  const auto best = [&](const Words& words) {
    Words all = {"--simulate", "run.json", "--tune"};
    all.insert(all.end(), words.begin(), words.end());
    const Result result = sandbox_.tune(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out.substr(result.out.find("params:"), 14);
  };
  EXPECT_EQ(best({"--objective", "GFLOP/s"}), "params:\n  T: 2");
  EXPECT_EQ(best({"--objective", "nvml_power"}), "params:\n  T: 1");
}

TEST_F(Simulate, AMetricIsComputedFromFiguresOfTheRecording) {
  sandbox_.write_script("{T: [1, 2, 4]}", "metrics: {\"GFLOPS/W\": 10/time/nvml_power}\n");
  const Result power = sandbox_.tune({"bench.yaml", "--simulate", "run.json", "--tune", "--objective", "GFLOPS/W"});
  EXPECT_EQ(power.code, 0) << power.err;
  EXPECT_TRUE(has(power.out, "params:\n  T: 1\n"));
  const Result time = sandbox_.tune({"bench.yaml", "--simulate", "run.json", "--tune"});
  EXPECT_TRUE(has(time.out, "params:\n  T: 2\n"));
}

TEST_F(Simulate, SeveralObjectivesGiveAParetoFront) {
  std::string text = kCache;
  text.replace(text.find("\"4\": {"), text.find("}}", text.find("\"4\": {")) - text.find("\"4\": {"),
               R"("4": {"T": 4, "time": 9.5, "GFLOP/s": 70.0, "nvml_power": 30.0)");
  sandbox_.write("three.json", text);
  const Words words = {"--simulate", "three.json", "--tune", "--objective", "GFLOP/s", "--objective", "nvml_power"};
  Words with_files = words;
  with_files.insert(with_files.end(), {"--output", "best", "--top", "1"});
  const Result result = sandbox_.tune(with_files);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "bench/T=2  2.500000      1  100.000000  0.125000   50.000000     -  pareto"));
  EXPECT_TRUE(has(result.out, "bench/T=1  4.500000      1   80.000000  0.090000   20.000000     -  pareto"));
  EXPECT_TRUE(has(result.out, "(1 more: best.csv, or the same command with --top all)\n"));
  EXPECT_TRUE(
      has(result.out, "pareto: 2 specs that none beats in one of GFLOP/s, nvml_power without losing in another"));
  const std::string yaml = sandbox_.read("best.yaml");
  EXPECT_TRUE(has(yaml, "params:\n  T: 2\n"));
  EXPECT_TRUE(has(yaml, "{params: {T: 2}, objectives: {GFLOP/s: 100, nvml_power: 50}}"));
  EXPECT_TRUE(has(yaml, "{params: {T: 1}, objectives: {GFLOP/s: 80, nvml_power: 20}}"));
}

TEST_F(Simulate, TheTuningFileMayNameSeveralObjectives) {
  sandbox_.write_script("{T: [1, 2]}",
                        "objective: [time, power]\nmetrics: {power: {expr: nvml_power, minimize: true}}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--simulate", "run.json", "--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "params:\n  T: 2\n"));
  EXPECT_TRUE(has(result.out, "pareto: 2 specs that none beats in one of time, power"));
  sandbox_.write_script("{T: [1, 2]}", "objective: [time, time]\n");
  expect_refusal({"bench.yaml", "--simulate", "run.json"}, "bench.yaml:4: the objective 'time' stands twice");
  sandbox_.write_script("{T: [1, 2]}", "objective: [time, tine]\n");
  expect_refusal({"bench.yaml", "--simulate", "run.json"}, "unknown objective 'tine', did you mean 'time'?");
  expect_refusal({"bench.yaml", "--dry-run", "--objective", "tine"}, "--objective: unknown objective 'tine'");
}

TEST_F(Simulate, AnswersFromTheJournalOfARealRun) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "real"}).code, 0);
  const int runs = sandbox_.script_runs();
  const Result result = sandbox_.tune({"bench.yaml", "--simulate", "real.jsonl", "--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 1\n"));
  EXPECT_TRUE(has(sandbox_.tune({"--simulate", "real.jsonl", "--tune"}).out, "params:\n  T: 1\n"));
  EXPECT_EQ(sandbox_.script_runs(), runs);
}

// In the trials of a journal the parameters stand in alphabetical order, and T=4 is the value of no valid spec. The
// second time, the run has not told its grid.
TEST_F(Simulate, NumbersSpecsAsTheRecordedRunDid) {
  sandbox_.write_script("{T: [4, 2, 3], S: [1, 0]}", "constraints: [T < 4]\n");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "real"}).code, 0);
  const std::string real = sandbox_.read("real.csv");
  ASSERT_TRUE(has(real, "\n2,bench,ok,2,1,"));
  const auto simulated_with = [&](const Words& rows, const std::string& params) {
    const Result result = sandbox_.tune({"--simulate", "real.jsonl", "--tune", "--output", "simulated"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(has(result.out, "top_spec_idx: 2\n"));
    const std::string simulated = sandbox_.read("simulated.csv");
    for (const std::string& row : rows) EXPECT_TRUE(has(simulated, row));
    EXPECT_TRUE(has(sandbox_.tune({"--simulate", "real.jsonl", "--tune", "--spec", "5"}).out, params));
  };
  simulated_with({"\n2,bench,ok,2,1,", "\n5,bench,ok,3,0,"}, "params:\n  T: 3\n  S: 0\n");
  sandbox_.write("real.jsonl", without_results(sandbox_.read("real.jsonl")));
  simulated_with({"\n2,bench,ok,1,2,", "\n5,bench,ok,0,3,"}, "params:\n  S: 0\n  T: 3\n");
}

TEST_F(Simulate, RefusesASpecThatIsNotInTheRecording) {
  sandbox_.write_script("{T: [1, 2, 8]}");
  expect_refusal({"bench.yaml", "--simulate", "run.json", "--output", "out"},
                 "run.json: spec 2 (T=8) is not in the recording; narrow the grid");
}

TEST_F(Simulate, RefusesTheRecordingOfAnotherProblem) {
  sandbox_.write_gemm();
  ASSERT_EQ(sandbox_.tune({"gemm.yaml", "--max-evals", "1", "--output", "real"}).code, 0);
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--simulate", "real.jsonl", "--max-evals", "1"}).code, 0);
  expect_refusal({"gemm.yaml", "--simulate", "real.jsonl", "-m", "24"}, "real.jsonl: the recording is of the problem ");
}

TEST_F(Simulate, RefusesTheRecordingOfAnotherKernelOrOtherParameters) {
  sandbox_.write_script("{T: [1, 2], X: [1, 2]}");
  expect_refusal({"bench.yaml", "--simulate", "run.json"}, "the recording does not know the parameter X of bench.yaml");
  sandbox_.write_script("{X: [1]}");
  expect_refusal({"bench.yaml", "--simulate", "run.json", "--add-param", "T:1", "--param", "X:1"}, "parameter X");
  std::string other = kCache;
  other.replace(other.find("\"bench\""), 7, "\"blur\"");
  sandbox_.write("other.json", other);
  sandbox_.write_script("{T: [1, 2]}");
  expect_refusal({"bench.yaml", "--simulate", "other.json"}, "other.json: the recording is of 'blur', and bench.yaml");
}

TEST_F(Simulate, RefusesBrokenRecordingsAndOptionsThatMakeNoSense) {
  sandbox_.write("empty.json", "");
  expect_refusal({"--simulate", "empty.json", "--output", "out"}, "empty.json: the recording is empty");
  sandbox_.write("cut.json", kCache.substr(0, 120));
  expect_refusal({"--simulate", "cut.json", "--output", "out"}, "cut.json:");
  expect_refusal({"--simulate", "none.json"}, "none.json: cannot be read");
  expect_refusal({"--simulate", "run.json", "--dry-run"}, "--simulate excludes --dry-run");
  expect_refusal({"--simulate", "run.json", "--objective", "GFLOPs/s"}, "no figure 'GFLOPs/s'");
  expect_refusal({"--simulate", "run.json", "--param", "T:[1]"}, "give it with --yaml");
  expect_refusal({"--simulate", "run.json", "--filter", "T=3"}, "T");
  expect_refusal({"--simulate", "run.json", "--kt-cache", "run.json"}, "is also an input of this run");
}

TEST_F(Simulate, SaysWhenNoSpecOfTheRecordingIsValid) {
  const Result result = sandbox_.tune({"--simulate", "run.json", "--filter", "T=4"});
  EXPECT_EQ(result.code, 1) << result.err;
}

class KernelTunerFiles : public Simulate {};

TEST_F(KernelTunerFiles, ACacheIsWrittenAndContinued) {
  sandbox_.write_script("{T: [3, 1, 2], SAYS: [plain, crashes]}");
  const Result first = sandbox_.tune({"bench.yaml", "--kt-cache", "kt/cache.json", "--filter", "T=3"});
  EXPECT_EQ(first.code, 0) << first.err;
  const std::string begun = sandbox_.read("kt/cache.json");
  EXPECT_TRUE(has(begun, "\"tune_params_keys\": [\"T\",\"SAYS\"],\n"));
  EXPECT_TRUE(
      has(begun, "\"objective\": \"time\",\n\"cache\": {\n\"3,plain\": {\"T\":3,\"SAYS\":\"plain\",\"time\":1.0,"));
  EXPECT_TRUE(has(begun, "\n\"3,crashes\": {\"T\":3,\"SAYS\":\"crashes\",\"time\":\"RuntimeFailedConfig\","));
  EXPECT_TRUE(has(begun, "\"__error__\":\"RuntimeFailedConfig\""));
  EXPECT_TRUE(begun.ends_with("}}\n}\n")) << begun;

  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--kt-cache", "kt/cache.json"}).code, 0);
  const std::string whole = sandbox_.read("kt/cache.json");
  EXPECT_EQ(whole.substr(0, begun.size() - 4), begun.substr(0, begun.size() - 4));
  EXPECT_TRUE(has(whole, "\"1,plain\": {"));
  EXPECT_EQ(whole.find("\"3,plain\": {"), whole.rfind("\"3,plain\": {"));
  EXPECT_TRUE(
      has(sandbox_.tune({"--simulate", "kt/cache.json", "--tune"}).out, "Number of valid specs: 6\n3 of 6 measured\n"));
}

TEST_F(KernelTunerFiles, ACacheThatAnotherRunHasIsLeftAlone) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--kt-cache", "cache.json", "--filter", "T=3"}).code, 0);
  const std::string before = sandbox_.read("cache.json");
  const int file = ::open((sandbox_.folder() / "cache.json").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  const Result result = sandbox_.tune({"bench.yaml", "--kt-cache", "cache.json"});
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err,
            "tune: error: cache.json is in use by another run; wait for it, or choose another --kt-cache FILE\n");
  EXPECT_EQ(sandbox_.read("cache.json"), before);
  EXPECT_EQ(sandbox_.script_runs(), 1);
  ::close(file);
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--kt-cache", "cache.json"}).code, 0);
}

TEST_F(KernelTunerFiles, ATornCacheIsContinuedBehindItsLastWholeEntry) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--kt-cache", "cache.json"}).code, 0);
  const std::string whole = sandbox_.read("cache.json");
  sandbox_.write("cache.json", whole.substr(0, whole.find("\"2\": {") + 20));
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--kt-cache", "cache.json"}).code, 0);
  const std::string again = sandbox_.read("cache.json");
  const auto entry = [](const std::string& text) { return text.substr(0, text.find("\"2\": {") + 30); };
  EXPECT_EQ(entry(again), entry(whole));
  EXPECT_TRUE(again.ends_with("}}\n}\n"));
}

TEST_F(KernelTunerFiles, ASpecThatFailedAndSucceedsLaterIsWrittenAgain) {
  sandbox_.write_script("{T: [2, 1]}");
  std::string script = sandbox_.read("bench.sh");
  script.insert(script.find('\n') + 1, "[ -e " + (sandbox_.folder() / "mended").string() + " ] || exit 1\n");
  sandbox_.write("bench.sh", script);
  const Words words = {"bench.yaml", "--kt-cache", "cache.json", "--retry-failed"};
  EXPECT_EQ(sandbox_.tune(words).code, 1);
  EXPECT_EQ(sandbox_.tune(words).code, 1);
  const std::string failed = sandbox_.read("cache.json");
  EXPECT_EQ(failed.find("\"2\": {"), failed.rfind("\"2\": {"));
  sandbox_.write("mended", "");
  EXPECT_EQ(sandbox_.tune(words).code, 0);
  const std::string mended = sandbox_.read("cache.json");
  EXPECT_TRUE(has(mended.substr(mended.rfind("\"2\": {")), "\"time\":2.0"));
  EXPECT_TRUE(has(sandbox_.tune({"--simulate", "cache.json", "--tune"}).out, "Number of valid specs: 2\n"));
  EXPECT_EQ(sandbox_.tune(words).code, 0);
  const auto entries = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(entries(sandbox_.read("cache.json")), entries(mended));
}

TEST_F(KernelTunerFiles, ACompressedCacheIsNotContinued) {
  sandbox_.write_script("{T: [1, 2]}");
  for (const char* start : {"\x1f\x8b\x08", "BZh9"}) {
    sandbox_.write("packed.json", start);
    expect_refusal({"bench.yaml", "--kt-cache", "packed.json"},
                   "packed.json: is compressed, and cannot be continued; unpack it, or choose another --kt-cache FILE");
  }
}

TEST_F(KernelTunerFiles, TheCacheOfAnotherRunIsRefused) {
  sandbox_.write_script("{T: [1, 2]}");
  expect_refusal({"bench.yaml", "--kt-cache", "run.json"},
                 "run.json: the cache is of the device \"NVIDIA A100\", this");
  sandbox_.write("text.json", "hello\n");
  expect_refusal({"bench.yaml", "--kt-cache", "text.json"}, "text.json: is no cache file of Kernel Tuner");
  sandbox_.write_script("[{T: [1, 2]}, {X: [1]}]");
  expect_refusal({"bench.yaml", "--kt-cache", "new.json"}, "do not have the same parameters");
}

TEST_F(KernelTunerFiles, T4ResultsTellFailuresApart) {
  sandbox_.write_script("{T: [1], SAYS: [plain, wrong, crashes]}");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--t4", "out/bench.t4.json"}).code, 0);
  const std::string text = sandbox_.read("out/bench.t4.json");
  EXPECT_TRUE(has(text, "{\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\":\"milliseconds\""));
  EXPECT_TRUE(has(text, "\"invalidity\":\"correct\",\"correctness\":1"));
  EXPECT_TRUE(has(text, "\"invalidity\":\"correctness\",\"correctness\":0"));
  EXPECT_TRUE(has(text, "\"invalidity\":\"runtime\",\"correctness\":0"));
  // Readers of T4 take the mean of the times, and demand a measurement of the objective.
  EXPECT_TRUE(has(text, "\"runtimes\":[1.0]},\"invalidity\":\"correct\""));
  EXPECT_TRUE(has(text, "\"measurements\":[{\"name\":\"time\",\"value\":\"RuntimeFailedConfig\",\"unit\":\"\"}]"));
}

TEST_F(KernelTunerFiles, AConversionKeepsTheOrderOfParametersAndAllMetrics) {
  sandbox_.write_script("{T: [1, 2], SAYS: [plain], A: [5]}", "metrics: {half: time/2}\nobjective: half\n");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--output", "out", "--kt-cache", "direct.json"}).code, 0);
  // The records of trials tell neither.
  ASSERT_EQ(sandbox_.tune({"convert", "out.jsonl", "converted.json"}).code, 0);
  const auto without_times = [&](const std::string& file) {
    static const std::regex kTimes("\"(compile_time|benchmark_time|timestamp)\":[^,}]*");
    return std::regex_replace(sandbox_.read(file), kTimes, "");
  };
  EXPECT_EQ(without_times("converted.json"), without_times("direct.json"));
  EXPECT_TRUE(has(sandbox_.read("converted.json"), "\"tune_params_keys\": [\"T\",\"SAYS\",\"A\"],\n"));
  EXPECT_TRUE(has(sandbox_.read("converted.json"), "\"2,plain,5\": {\"T\":2,\"SAYS\":\"plain\",\"A\":5,"));
  EXPECT_TRUE(has(sandbox_.read("converted.json"), "\"half\":0.0005,"));
  // Nor do a converted journal, or one whose run was killed before it printed anything.
  sandbox_.write("killed.jsonl", without_results(sandbox_.read("out.jsonl")));
  for (const char* from : {"converted.json", "killed.jsonl"}) {
    ASSERT_EQ(sandbox_.tune({"convert", from, "copy.jsonl"}).code, 0);
    ASSERT_EQ(sandbox_.tune({"convert", "copy.jsonl", "copy.json"}).code, 0);
    EXPECT_TRUE(has(sandbox_.read("copy.json"), "\"tune_params_keys\": [\"T\",\"SAYS\",\"A\"],\n")) << from;
  }
}

TEST_F(KernelTunerFiles, AConversionKeepsTheTimesOfLaunches) {
  std::string cache = kCache;
  cache.replace(cache.find("\"time\": 2.5,"), 12, "\"time\": 2.5, \"times\": [2.0, 3.0],");
  sandbox_.write("times.json", cache);
  ASSERT_EQ(sandbox_.tune({"convert", "times.json", "times.t4.json"}).code, 0);
  EXPECT_TRUE(has(sandbox_.read("times.t4.json"), "\"runtimes\":[2.0,3.0]}"));
  ASSERT_EQ(sandbox_.tune({"convert", "times.t4.json", "back.json"}).code, 0);
  EXPECT_TRUE(has(sandbox_.read("back.json"), "\"time\":2.5,\"times\":[2.0,3.0],"));
}

/// What a simulation says but for the lines that name the file, and the seconds that CSV does not hold.
std::string told(const Sandbox& sandbox, const std::string& file) {
  const Result result = sandbox.tune({"--simulate", file, "--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  return result.out.substr(result.out.find("Number of"), result.out.find("Elapsed") - result.out.find("Number of"));
}

TEST_F(KernelTunerFiles, ConversionsKeepWhatIsRanked) {
  const std::string original = told(sandbox_, "run.json");
  std::string from = "run.json";
  for (const char* to : {"a.jsonl", "b.json", "c.t4.json", "d.json", "e.csv", "f.jsonl"}) {
    const Result result = sandbox_.tune({"convert", from, to});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(has(result.out, ": 3 specs of bench"));
    EXPECT_EQ(told(sandbox_, to), original) << to;
    from = to;
  }
  EXPECT_TRUE(has(sandbox_.tune({"--simulate", "d.json"}).out, "Elapsed tuning time: 5.0 (s)"));
}

TEST_F(KernelTunerFiles, AConversionSaysWhatItCannotDo) {
  expect_refusal({"convert", "run.json", "out.txt"}, "out.txt: the format does not follow from the name");
  expect_refusal({"convert", "run.json", "run.json"}, "run.json: the output is also an input; choose another name");
  expect_refusal({"convert", "run.json"}, "OUT");
  expect_refusal({"convert", "none.json", "out.csv"}, "none.json: cannot be read");
  expect_refusal({"convert", "run.json", "out.json", "--to", "xml"}, "xml");
}

TEST_F(Simulate, StopsWithinAShareOfTheBestRecorded) {
  const Words exact = {"--simulate", "run.json", "--tune", "--stop-within", "0%"};
  EXPECT_TRUE(has(sandbox_.tune(exact).out, "simulated: 2 of the 3 specs"));
  const Words loose = {"--simulate", "run.json", "--tune", "--stop-within", "50%"};
  EXPECT_TRUE(has(sandbox_.tune(loose).out, "simulated: 1 of the 3 specs"));
}

// That program is for those who change the searches.
class BenchSearch : public Simulate {
 protected:
  std::string bench(const Words& arguments) {
    platform::Command command;
    command.argv = {TUNE_BENCH_SEARCH};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.directory = sandbox_.folder();
    const platform::Finished finished = platform::run(command);
    EXPECT_EQ(finished.exit.code, 0) << finished.captured;
    return finished.output;
  }
};

TEST_F(BenchSearch, ComparesStrategiesWhateverTheNumberOfThreads) {
  const auto with_jobs = [&](const char* jobs) {
    const std::string text = bench({"run.json", "--strategy", "auto", "--strategy", "genetic:population=3", "--budgets",
                                    "1,3", "--seeds", "4", "--jobs", jobs});
    return text.substr(0, text.find("\nall:"));  // what follows holds microseconds
  };
  const std::string table = with_jobs("1");
  EXPECT_EQ(table, with_jobs("3"));
  EXPECT_TRUE(has(table, "run.json: 3 specs, 1 of them failed; best time 0.0025"));
  EXPECT_TRUE(has(table, "genetic:population=3"));
  EXPECT_TRUE(has(table, " / 1.000 "));  // all were tried
}

TEST_F(BenchSearch, ComparesWarmStarts) {
  const std::string recorded = std::string(TUNE_SOURCE_DIR) + "/configs/recorded/gemm_wgmma_";
  const std::string text = bench({recorded + "h200.jsonl", recorded + "8192_burst_h200.jsonl", "--warm-start",
                                  "--strategy", "auto", "--seeds", "3", "--budgets", "40"});
  EXPECT_TRUE(has(text, "  8192x8192x8192 bf16 bf16 bf16 row col row ")) << text;
  EXPECT_TRUE(has(text, "   1.0  ")) << "the winner of the problem before is tried first\n" << text;
  EXPECT_TRUE(has(text, "warm over cold: 0.")) << text;
}

TEST_F(BenchSearch, ComparesSearchesWithAndWithoutAModelOfCost) {
  const std::string configs = std::string(TUNE_SOURCE_DIR) + "/configs/";
  const auto shares = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {configs + "recorded/gemm_wgmma_shapes_h200.jsonl.gz",
                                      "--model",
                                      configs + "gemm_wgmma.yaml",
                                      "--strategy",
                                      "auto",
                                      "--seeds",
                                      "2",
                                      "--budgets",
                                      "8"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string text = bench(words);
    std::smatch found;
    const std::regex rows(
        "no model +([0-9.]+)/[0-9.]+\nmodel +([0-9.]+)/[0-9.]+\n\nmodels: 12; rank correlation .* 0.8");
    EXPECT_TRUE(std::regex_search(text, found, rows)) << text;
    return found.size() < 3 ? std::pair(0.0, 0.0) : std::pair(std::stod(found[1]), std::stod(found[2]));
  };
  const auto [without, right] = shares({});
  EXPECT_GT(right, without + 0.02);
  const auto [cold, reversed] = shares({"--wrong", "reversed", "--ahead", "4"});
  EXPECT_LT(reversed, right);
  EXPECT_GT(reversed, cold - 0.05);
}

TEST_F(Simulate, SizesChooseOneOfTheProblemsOfAJournal) {
  const std::string list = std::string(TUNE_SOURCE_DIR) + "/configs/recorded/hopper_bf16_few_rows_h200.jsonl.gz";
  const Result last = sandbox_.tune({"--simulate", list, "--tune", "--top", "1"});
  EXPECT_TRUE(has(last.out, "of 5 problems, and this is the last, 32x28672x4096"));
  EXPECT_TRUE(has(last.out, "  0.058320  "));
  const Result chosen =
      sandbox_.tune({"--simulate", list, "--tune", "--top", "1", "-m", "16", "-n", "8192", "-k", "8192"});
  EXPECT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_FALSE(has(chosen.out, "of 5 problems"));
  EXPECT_TRUE(has(chosen.out, "  0.034688  "));
  expect_refusal({"--simulate", list, "--tune", "-m", "16"}, "-m, -n and -k choose a recorded problem together");
  expect_refusal({"--simulate", list, "--tune", "-m", "1", "-n", "1", "-k", "1"},
                 "holds no run for M1-N1-K1; this shows one of its ");
  expect_refusal({"--simulate", "run.json", "--tune", "-m", "16"}, "change a tuning file's grid; give it with --yaml");
}

TEST_F(Simulate, SizesChooseTheRunThatSoughtTheBest) {
  sandbox_.write_gemm();
  const Words sizes = {"-m", "32", "-n", "32", "-k", "32"};
  Words tuned = {"gemm.yaml", "--tune", "--no-finals", "--output", "best"};
  ASSERT_EQ(sandbox_.tune(tuned).code, 0);
  tuned.insert(tuned.end(), sizes.begin(), sizes.end());
  ASSERT_EQ(sandbox_.tune(tuned).code, 0);
  Words one = {"gemm.yaml", "--spec", "2", "--output", "best"};
  one.insert(one.end(), sizes.begin(), sizes.end());
  ASSERT_EQ(sandbox_.tune(one).code, 0);
  Words chosen = {"--simulate", "best.jsonl", "--tune"};
  chosen.insert(chosen.end(), sizes.begin(), sizes.end());
  const Result result = sandbox_.tune(chosen);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "simulated: 4 of the 4 specs of best.jsonl")) << result.out;
}

TEST_F(Simulate, AJournalThatDoesNotTellItsProblemIsTakenAtTheCommandsWord) {
  const std::string folder = std::string(TUNE_SOURCE_DIR) + "/configs/";
  const Result result = sandbox_.tune({"--yaml", folder + "gemm_simt.yaml", "--simulate",
                                       folder + "recorded/gemm_simt_h200.jsonl", "--tune", "--top", "1", "-m", "100"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "gemm_simt_h200.jsonl does not say of which problem it is"));
}

}  // namespace
}  // namespace tune::cli::cli_simulate_test

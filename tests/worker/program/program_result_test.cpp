#include "program/program_result.h"

#include <gtest/gtest.h>

#include "wire/messages.h"

namespace tune::worker::program_result_test {
namespace {

ProgramResult from_stdout(std::string_view output) { return read_program_result(std::nullopt, output); }
ProgramResult from_file(const std::string& text) { return read_program_result(text, "{\"time\": 9}"); }

std::string refusal(const std::optional<std::string>& file, std::string_view output) {
  try {
    read_program_result(file, output);
  } catch (const wire::Malformed& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ProgramResult, IsTheJsonLineOnStdout) {
  const auto result = from_stdout("warming up\n{\"name\": \"x\", \"time\": 0.25, \"iters\": 7, \"ok\": true}\nbye\n");
  EXPECT_EQ(result.timing->median, 0.25);
  EXPECT_EQ(result.timing->count, 7);
  EXPECT_EQ(result.ok, true);
  EXPECT_TRUE(result.metrics.empty());
}

TEST(ProgramResult, IgnoresJsonLinesThatHoldNoTime) {
  EXPECT_EQ(from_stdout("{\"event\": \"start\"}\n{\"time\": 2}\n{\"event\": \"end\"}").timing->median, 2);
  EXPECT_EQ(from_stdout("[1, 2]\n3\n{not json}\n{\"time\": 2}").timing->median, 2);
}

TEST(ProgramResult, SaysEverythingOnce) {
  EXPECT_EQ(refusal({}, "{\"time\": 5, \"time\": 1e-9}"), "the result on stdout has 'time' twice");
  EXPECT_EQ(refusal("{\"time\": 1e-9,\n\"time\": 5}", ""), "the result in the result file has 'time' twice");
  EXPECT_EQ(refusal("name,time,time\nx,5,1e-9\n", ""), "the result file has the column 'time' twice");
  EXPECT_EQ(from_stdout("{\"time\": 5, \"more\": {\"time\": 1}}").timing->median, 5) << "that is another object's";
}

TEST(ProgramResult, SaysWhyALineThatLooksLikeOneIsNone) {
  EXPECT_EQ(worker::why_no_result("begin\n{\"size\": NaN}\n"),
            "a line on its standard output is not valid JSON: NaN and Infinity are not JSON");
  EXPECT_EQ(worker::why_no_result("{\"size\": 7}\n"), "") << "it has no name of a time";
  EXPECT_NE(worker::why_no_result("{\"wall (ms)\": 7}\n"), "");
  EXPECT_NE(worker::why_no_result("{\"name\": \"x\"}\n"), "");
  EXPECT_EQ(worker::why_no_result("{\n{x}\n"), "");
}

TEST(ProgramResult, IsNoLineThatWasCut) {
  const std::string cut = "{\"pad\": \"" + std::string(1 << 20, 'x');
  EXPECT_TRUE(may_be_result(cut));
  EXPECT_TRUE(refusal({}, cut).starts_with("a line of JSON on stdout is longer than 1 MiB")) << refusal({}, cut);
  EXPECT_FALSE(may_be_result("{\"size\": 1}"));
  EXPECT_TRUE(may_be_result(" {\"time\": 1}"));
}

TEST(ProgramResult, PrefersTheFileToStdout) { EXPECT_EQ(from_file("{\"time\": 2}").timing->median, 2); }

TEST(ProgramResult, ReadsAJsonFileOverSeveralLines) {
  EXPECT_EQ(from_file("{\n  \"met (ms)\": 500,\n  \"iters\": 3\n}\n").timing->median, 0.5);
}

TEST(ProgramResult, TakesTheTimeForFiguresThatTheRowLacks) {
  const Timing timing = *from_stdout("{\"time\": 0.5}").timing;
  EXPECT_EQ(timing.count, 1);
  for (const double figure : {timing.min, timing.mean, timing.p95}) EXPECT_EQ(figure, 0.5);
  for (const double end : {timing.ci_low, timing.ci_high}) EXPECT_EQ(end, 0) << "how sure it is, is not known";
}

TEST(ProgramResult, TakesFiguresThatTheRowHas) {
  const Timing timing = *from_stdout("{\"time\": 0.5, \"min\": 0.25, \"mean\": 0.75, \"p95\": 1}").timing;
  EXPECT_EQ(timing.min, 0.25);
  EXPECT_EQ(timing.mean, 0.75);
  EXPECT_EQ(timing.p95, 1);
}

TEST(ProgramResult, KeepsOtherFiniteNumbersAsMetrics) {
  const auto result = from_stdout(
      "{\"name\": \"x\", \"time\": 1, \"GB/s\": 3.5, \"regs\": 32, \"note\": \"slow\", \"none\": null, \"yes\": true}");
  EXPECT_EQ(result.metrics, (std::map<std::string, double>{{"GB/s", 3.5}, {"regs", 32}}));
  EXPECT_EQ(from_file("name,met (ms),iters,GB/s\nx,1,1,nan\n").metrics.size(), 0u);
}

TEST(ProgramResult, ReadsTheCsvOfKbench) {
  const auto result =
      from_file("name,met (ms),iters,Arithmetic (GFLOPS/s)\r\n\"gemm/M=8192,N=8192\",0.5,2,17452.1\r\n");
  EXPECT_EQ(result.timing->median, 0.0005);
  EXPECT_EQ(result.timing->count, 2);
  EXPECT_EQ(result.metrics.at("Arithmetic (GFLOPS/s)"), 17452.1);
  EXPECT_EQ(result.ok, std::nullopt);
}

TEST(ProgramResult, ReadsCsvWithBlanksQuotesAndOk) {
  const auto result = from_file("\"name\", \"met (ms)\", \"iters\", \"a \"\"b\"\"\", \"ok\"\n\"x\", 2, 1, 4, False\n");
  EXPECT_EQ(result.timing->median, 0.002);
  EXPECT_EQ(result.metrics.at("a \"b\""), 4);
  EXPECT_EQ(result.ok, false);
}

/// What google-benchmark writes, with these entries of the list of benchmarks.
std::string google_benchmark(const std::string& entries) {
  return "{\n\"context\": {\"num_cpus\": 2},\n\"benchmarks\": [" + entries + "]\n}";
}
std::string repetition(const std::string& name, const std::string& time, const std::string& more = "") {
  return "{\"name\": \"" + name + "\", \"run_name\": \"" + name +
         "\", \"run_type\": \"iteration\", \"threads\": 1, \"iterations\": 10, \"real_time\": " + time +
         ", \"cpu_time\": 4e3, \"time_unit\": \"us\"" + more + "}";
}

TEST(ProgramResult, ReadsTheFileOfGoogleBenchmark) {
  const auto result = from_file(google_benchmark(repetition("sum/8", "2e3", ", \"bytes_per_second\": 5e9")));
  EXPECT_DOUBLE_EQ(result.timing->median, 2e-3);
  EXPECT_EQ(result.timing->count, 10);
  EXPECT_EQ(result.name, "sum/8");
  EXPECT_EQ(result.ok, std::nullopt);
  EXPECT_EQ(result.metrics, (std::map<std::string, double>{{"bytes_per_second", 5e9}, {"cpu_ms", 4}}));
}

TEST(ProgramResult, TakesTheMedianOfTheRepetitionsOfGoogleBenchmark) {
  const std::string three = repetition("x", "1e3") + "," + repetition("x", "9e3") + "," + repetition("x", "2e3");
  const std::string median =
      R"({"name": "x_median", "run_name": "x", "run_type": "aggregate", "aggregate_name": "median", "iterations": 3,
          "real_time": 7, "cpu_time": 1, "time_unit": "ms"})";
  const Timing timing = *from_file(google_benchmark(three + "," + median)).timing;
  EXPECT_DOUBLE_EQ(timing.median, 2e-3);
  EXPECT_DOUBLE_EQ(timing.min, 1e-3);
  EXPECT_DOUBLE_EQ(timing.mean, 4e-3);
  EXPECT_EQ(timing.count, 30);
  EXPECT_DOUBLE_EQ(from_file(google_benchmark(median)).timing->median, 7e-3) << "without the repetitions";
}

TEST(ProgramResult, NeedsOneGoogleBenchmark) {
  EXPECT_EQ(refusal(google_benchmark(""), ""), "no benchmark in the result file: --benchmark_filter must choose one");
  EXPECT_EQ(refusal(google_benchmark(repetition("a", "1") + "," + repetition("b", "1")), ""),
            "the result file has the benchmarks 'a' and 'b': --benchmark_filter must choose one");
  EXPECT_EQ(refusal(google_benchmark(repetition("a", "0", ", \"error_message\": \"wrong sum\"")), ""),
            "the benchmark 'a' stopped: wrong sum");
}

TEST(ProgramResult, SaysFalseOfAWrongResult) {
  EXPECT_EQ(from_stdout("{\"time\": 1, \"ok\": false}").ok, false);
  EXPECT_EQ(from_file("time,ok\n1,0\n").ok, false);
}

struct Bad {
  const char* name;
  std::optional<std::string> file;
  const char* output;
  const char* message;  ///< part of it
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadProgramResult : public testing::TestWithParam<Bad> {};

TEST_P(BadProgramResult, IsRefusedWithItsReason) {
  const std::string message = refusal(GetParam().file, GetParam().output);
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadProgramResult,
    testing::Values(
        Bad{"NothingAtAll", {}, "", "wrote no result"}, Bad{"OnlyText", {}, "done in 3 ms\n", "wrote no result"},
        Bad{"JsonWithoutTime", {}, "{\"tme\": 3}\n", "neither 'time' (seconds) nor 'met (ms)': {\"tme\":3}"},
        Bad{"ListOnStdout", {}, "[{\"time\": 1}]\n", "a list, not an object: [{\"time\":1}]"},
        Bad{"PythonsQuotes", {}, "{'time': 1}\n", "not valid JSON: invalid literal"},
        Bad{"NotUtf8Line", {}, "{\"time\": 1, \"gpu\": \"\xff\"}\n", "not valid JSON: it is not UTF-8"},
        Bad{"TwoLines", {}, "{\"time\": 1}\n{\"time\": 2}\n", "2 results on stdout"},
        Bad{"TornLine", {}, "{\"time\": 1}\n{\"time\": 2, \"ite", "not valid JSON: it ends in the middle"},
        Bad{"NanLine", {}, "{\"time\": NaN}\n", "not valid JSON: NaN"},
        Bad{"HugeTime", {}, "{\"time\": 1e999}\n", "a number beyond all doubles"},
        Bad{"ZeroTime", {}, "{\"time\": 0}\n", "not a finite positive number"},
        Bad{"TimeOfNothing", {}, "{\"time\": 1e-320}\n", "no program takes that"},
        Bad{"TimeOfAges", {}, "{\"met (ms)\": 1e300}\n", "no program takes that"},
        Bad{"NegativeTime", {}, "{\"met (ms)\": -1}\n", "not a finite positive number"},
        Bad{"TimeAsText", {}, "{\"time\": \"1\"}\n", "not a number"},
        Bad{"NullTime", {}, "{\"time\": null}\n", "null, not a number"},
        Bad{"TimeAsBoolean", {}, "{\"time\": true}\n", "not a number"},
        Bad{"HalfAnIteration", {}, "{\"time\": 1, \"iters\": 0.5}\n", "not a count"},
        Bad{"NoIteration", {}, "{\"time\": 1, \"iters\": 0}\n", "not a finite positive number"},
        Bad{"MoreIterationsThanCount", {}, "{\"time\": 1, \"iters\": 1e30}\n", "not a count"},
        Bad{"NegativeMinimum", {}, "{\"time\": 1, \"min\": -1}\n", "'min' of the result"},
        Bad{"OkAsText", {}, "{\"time\": 1, \"ok\": \"yes\"}\n", "not true or false"},
        Bad{"OkAsNull", {}, "{\"time\": 1, \"ok\": null}\n", "not true or false"},
        Bad{"EmptyFile", "", "{\"time\": 1}\n", "is empty"}, Bad{"BlankFile", " \n\n", "{\"time\": 1}\n", "is empty"},
        Bad{"TornFile", "{\"time\": 1, ", "{\"time\": 1}\n", "it ends in the middle"},
        Bad{"ArrayFile", "[{\"time\": 1}]", "", "not one valid JSON object: a list"},
        Bad{"FileWithoutTime", "{\"iters\": 1}", "{\"time\": 1}\n", "neither 'time'"},
        Bad{"TwoObjectsInFile", "{\"time\": 1}\n{\"time\": 2}\n", "", "2 results in the result file"},
        Bad{"CsvWithoutRow", "name,met (ms),iters\n", "", "no result in the result file"},
        Bad{"CsvWithTwoRows", "name,met (ms),iters\na,1,1\nb,1,1\n", "", "2 results in the result file"},
        Bad{"CsvWithTornRow", "name,met (ms),iters\na,1\n", "", "3 columns but a row with 2 cells"},
        Bad{"CsvWithOpenQuote", "name,met (ms),iters\n\"a,1,1\n", "", "quoted cell"},
        Bad{"CsvWithNan", "name,met (ms),iters\na,nan,1\n", "", "not a finite positive number"},
        Bad{"CsvWithInfinity", "name,met (ms),iters\na,inf,1\n", "", "not a finite positive number"},
        Bad{"CsvWithUnitInCell", "name,met (ms),iters\na,1 ms,1\n", "", "\"1 ms\", not a number"},
        Bad{"CsvWithEmptyTime", "name,met (ms),iters\na,,1\n", "", "\"\", not a number"},
        Bad{"GarbageFile", "\x7f\x45LF\x01\xff\xfe", "", "no result"},
        Bad{"NotUtf8", "time\n\xff\xfe\n", "", "not a number"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tune::worker::program_result_test

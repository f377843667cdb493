#include "recording/recording.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "recording/foreign/kernel_tuner_cache.h"
#include "support/has.h"
#include "support/tuning_folder.h"

namespace tune::recording_test {
namespace {

recording::Recording read_last(const std::filesystem::path& path) { return recording::read_recordings(path).back(); }

using cli::has;

const std::string kHeader = R"({
"device_name": "NVIDIA A100", "kernel_name": "gemm", "problem_size": [4096, 64],
"tune_params_keys": ["BM", "MODE", "FLAG"],
"tune_params": {"BM": [16, 32, 64], "MODE": ["a", "b"], "FLAG": [true]},
"objective": "GFLOP/s",
"cache": {)";
const std::string kFirst = R"(
"16,a,true": {"BM": 16, "MODE": "a", "FLAG": true, "time": 2.0, "times": [1.0, 2.0, 3.0], "GFLOP/s": 50.5,
  "compile_time": 1000.0, "verification_time": 200.0, "benchmark_time": 300, "timestamp": "2023-12-21 10:44:42+00:00"},)";
const std::string kOldFailure = R"(
"32,a,true": {"BM": 32, "MODE": "a", "FLAG": true, "time": "CompilationFailedConfig", "compile_time": 500},)";
const std::string kNewFailure = R"(
"64,b,true": {"BM": 64, "MODE": "b", "FLAG": true, "__error__": "RuntimeFailedConfig", "benchmark_time": 10},)";

recording::Recording read(const std::string& text) { return recording::parse_recordings(text, "run.json").back(); }

std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return {};
}

const Measurement& measurement(const recording::Recording& recording, std::size_t index) {
  return std::get<Measurement>(recording.trials.at(index).outcome);
}

TEST(Recording, ReadsAClosedKernelTunerCache) {
  const recording::Recording recording =
      read(kHeader + kFirst + kOldFailure + kNewFailure.substr(0, kNewFailure.size() - 1) + "}\n}\n");
  EXPECT_EQ(recording.format, recording::Recording::Format::kernel_tuner);
  EXPECT_EQ(recording.device.name, "NVIDIA A100");
  EXPECT_EQ(recording.kernel, "gemm");
  EXPECT_EQ(recording.problem, "4096x64");
  EXPECT_EQ(recording.objectives, std::vector<std::string>{"GFLOP/s"});
  ASSERT_EQ(recording.parameters.size(), 3u);
  EXPECT_EQ(recording.parameters[0].name, "BM");
  EXPECT_EQ(recording.parameters[0].kind, Kind::ratio);
  EXPECT_EQ(recording.parameters[0].values.size(), 3u);
  EXPECT_EQ(recording.parameters[1].kind, Kind::categorical);
  ASSERT_EQ(recording.trials.size(), 3u);
  const Measurement& first = measurement(recording, 0);
  EXPECT_DOUBLE_EQ(first.timing.median, 2e-3);
  EXPECT_EQ(first.timing.count, 3);
  EXPECT_DOUBLE_EQ(first.timing.min, 1e-3);
  EXPECT_DOUBLE_EQ(first.metrics.at("GFLOP/s"), 50.5);
  EXPECT_DOUBLE_EQ(recording.trials[0].build_seconds, 1.0);
  EXPECT_DOUBLE_EQ(recording.trials[0].measure_seconds, 0.5);
}

TEST(Recording, ReadsBothFormsOfFailure) {
  const recording::Recording recording = read(kHeader + kFirst + kOldFailure + kNewFailure);
  const auto& old_form = std::get<Failure>(recording.trials.at(1).outcome);
  EXPECT_EQ(old_form.stage, Stage::build);
  EXPECT_EQ(old_form.message, "CompilationFailedConfig");
  EXPECT_DOUBLE_EQ(recording.trials[1].build_seconds, 0.5);
  EXPECT_EQ(std::get<Failure>(recording.trials.at(2).outcome).stage, Stage::measure);
}

TEST(Recording, ReadsACacheThatEndsBehindAnyByteOfAnEntry) {
  const std::string whole = kHeader + kFirst + kOldFailure;
  for (std::size_t size = (kHeader + kFirst).size(); size < whole.size() - 2; ++size)
    EXPECT_EQ(read(whole.substr(0, size)).trials.size(), 1u) << whole.substr(0, size);
  EXPECT_EQ(read(whole).trials.size(), 2u);
}

TEST(Recording, TheObjectiveOfACacheMayBeAListOrMissing) {
  std::string text = kHeader + kFirst;
  const auto at = text.find("\"GFLOP/s\",");
  EXPECT_EQ(read(std::string(text).replace(at, 9, R"(["time", "GFLOP/s"])")).objectives,
            (std::vector<std::string>{"time", "GFLOP/s"}));
  const auto line = text.find("\"objective\"");
  EXPECT_EQ(read(std::string(text).erase(line, text.find('\n', line) - line)).objectives,
            std::vector<std::string>{"time"});
}

TEST(Recording, TheLastEntryOfASpecCounts) {
  std::string again = kFirst;
  again.replace(again.find("\"time\": 2.0"), 11, "\"time\": 8.0");
  const recording::Recording recording = read(kHeader + kFirst + kOldFailure + again);
  ASSERT_EQ(recording.trials.size(), 2u);
  EXPECT_DOUBLE_EQ(measurement(recording, 0).timing.median, 8e-3);
}

TEST(Recording, SaysWhereATimeIsNoTime) {
  for (const char* bad : {"NaN", "-1.5", "0", "Infinity", "-Infinity"}) {
    std::string text = kHeader + kOldFailure + kFirst;
    text.replace(text.find("\"time\": 2.0"), 11, "\"time\": " + std::string(bad));
    EXPECT_TRUE(has(complaint(text), "run.json:8: the time " + std::string(bad) + " is not positive and finite"));
  }
  std::string text = kHeader + kFirst;
  text.replace(text.find("1000.0"), 6, "-10");
  EXPECT_TRUE(has(complaint(text), "run.json:8: compile_time is -10: a duration cannot be"));
}

TEST(Recording, RefusesWhatHoldsNoTrial) {
  EXPECT_EQ(complaint(""), "run.json: the recording is empty");
  EXPECT_EQ(complaint(" \n"), "run.json: the recording is empty");
  EXPECT_EQ(complaint(kHeader + "}}"), "run.json: the recording holds no trial");
  EXPECT_TRUE(has(complaint(kHeader.substr(0, 80)), "this is no recorded run"));
  EXPECT_TRUE(has(complaint(kHeader.substr(0, kHeader.size() - 12)), "the file ends before the first entry"));
  EXPECT_TRUE(has(complaint("name: gemm\n"), "run.json:1: a JSON object or list is expected"));
  EXPECT_TRUE(has(complaint("{\"a\": 1}"), "this is no recorded run"));
}

TEST(Recording, RefusesAnEntryWithoutAParameterOrATime) {
  std::string text = kHeader + kFirst;
  text.erase(text.find("\"MODE\": \"a\", "), 13);
  EXPECT_TRUE(has(complaint(text), "run.json:7: the entry 16,a,true lacks the parameter MODE"));
  text = kHeader + kFirst;
  text.erase(text.find("\"time\": 2.0, "), 13);
  EXPECT_TRUE(has(complaint(text), "the entry 16,a,true has no time"));
}

TEST(Recording, NoLineOfTheRecordedJournalsIsDamaged) {
  int journals = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TUNE_SOURCE_DIR "/configs/recorded")) {
    if (entry.path().extension() != ".jsonl") continue;
    ++journals;
    const recording::Recording recording = read_last(entry.path());
    EXPECT_EQ(recording.damaged.texts(recording.file), std::vector<std::string>{});
    EXPECT_FALSE(recording.finals && recording.has_older_finals);
  }
  EXPECT_GT(journals, 12);
}

TEST(Recording, ReadsT4InItsDialects) {
  const auto t4 = [](const std::string& times, const std::string& end) {
    return R"({"metadata": {"timeunit": "miliseconds"}, "results": [
{"configuration": {"BM": 16}, "times": {)" +
           times + R"(, "runtimes": [1.0, 3.0]}, "invalidity": "correct", "correctness": 1,
 "measurements": [{"name": "time", "value": 2.0, "unit": ""}, {"name": "GB/s", "value": 7, "unit": "GB/s"}], "objectives": ["time"]},
{"configuration": {"BM": 32}, "times": {}, "invalidity": "timeout", "correctness": 0},
{"configuration": {"BM": 64}, "times": {}, "invalidity": "correctness", "correctness": 0})" +
           end;
  };
  for (const char* times : {R"("compilation": 100, "benchmark": 50)", R"("compilation_time": 100, "validation": 50)"}) {
    const recording::Recording recording = read(t4(times, "]}"));
    EXPECT_EQ(recording.format, recording::Recording::Format::t4);
    ASSERT_EQ(recording.trials.size(), 3u);
    EXPECT_DOUBLE_EQ(measurement(recording, 0).timing.median, 2e-3);
    EXPECT_DOUBLE_EQ(measurement(recording, 0).metrics.at("GB/s"), 7);
    EXPECT_DOUBLE_EQ(recording.trials[0].build_seconds, 0.1);
    EXPECT_EQ(std::get<Failure>(recording.trials[1].outcome).cause, Cause::timed_out);
    EXPECT_EQ(std::get<Failure>(recording.trials[2].outcome).stage, Stage::check);
  }
  EXPECT_EQ(read(t4("\"compilation\": 1", ", {\"configuration\": {\"BM\"")).trials.size(), 3u);
  const std::string micro = R"({"metadata": {"timeunit": "Microseconds"}, "results": [{"configuration": {"BM": 16},
    "times": {"runtimes": [1.0, 3.0]}, "invalidity": "correct", "correctness": 1}]})";
  EXPECT_DOUBLE_EQ(measurement(read(micro), 0).timing.median, 2e-6);
}

TEST(Recording, OfT4HasOneValueOfEachParameter) {
  const std::string twice =
      R"({"results": [{"configuration": {"BM": 16, "BM": 32}, "times": {}, "invalidity": "compile"}]})";
  try {
    read(twice);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the parameter BM has two values"), std::string::npos) << error.what();
  }
}

std::string run_record(const std::string& problem) {
  return R"({"record": "run", "protocol": 1, "name": "gemm", "problem": ")" + problem +
         R"(", "hello": {"event": "hello", "protocol": 1, "backend": "cpu", "device": {"name": "cpu"}}})" + "\n";
}

std::string trial_record(int bm, double seconds) {
  return R"({"record": "trial", "id": "x", "mesh_idx": 0, "params": {"$S": 1, "BM": )" + std::to_string(bm) +
         R"(}, "seconds": 9, "measure_seconds": 0.25, "measured": {"timing": {"median": )" + std::to_string(seconds) +
         R"(}, "build": {"seconds": 0.5}}})" + "\n";
}

TEST(Recording, OfAJournalIsTheLastRunsProblem) {
  const recording::Recording recording =
      read(run_record("8x8x8") + trial_record(16, 0.1) + trial_record(32, 0.2) + run_record("9x9x9") +
           trial_record(16, 0.3) + run_record("8x8x8") + trial_record(64, 0.4) + "{\"record\": \"tri");
  EXPECT_EQ(recording.format, recording::Recording::Format::journal);
  EXPECT_EQ(recording.problem, "8x8x8");
  ASSERT_EQ(recording.trials.size(), 3u);
  EXPECT_DOUBLE_EQ(measurement(recording, 0).timing.median, 0.1);
  EXPECT_DOUBLE_EQ(recording.trials[0].build_seconds, 0.5);
  EXPECT_DOUBLE_EQ(recording.trials[0].measure_seconds, 0.25);
  EXPECT_TRUE(recording.trials[0].settings[0].run_time);
}

TEST(Recording, OfAnOlderJournalHasTheTimesOfTheFirstDevice) {
  std::string trial = trial_record(16, 0.5);
  trial.insert(trial.find("\"build\""), "\"device\": \"GPU-b\", \"scale\": 0.5, ");
  const recording::Recording recording = read(run_record("8x8x8") + trial);
  EXPECT_DOUBLE_EQ(measurement(recording, 0).timing.median, 0.25);
  EXPECT_DOUBLE_EQ(measurement(recording, 0).scaled, 0.5);
}

std::string gzipped(std::string text) {
  std::string packed(text.size() + 1000, ' ');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string bzipped(std::string text) {
  std::string packed(text.size() + 1000, ' ');
  auto size = static_cast<unsigned>(packed.size());
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(packed.data(), &size, text.data(), static_cast<unsigned>(text.size()), 1, 0, 0),
            BZ_OK);
  packed.resize(size);
  return packed;
}

TEST(Recording, IsReadFromGzipAndBzip2) {
  const TuningFolder folder;
  const std::string text = kHeader + kFirst + kOldFailure;
  EXPECT_EQ(read_last(folder.write("a.json", text)).trials.size(), 2u);
  EXPECT_EQ(read_last(folder.write("a.json.gz", gzipped(text))).trials.size(), 2u);
  EXPECT_EQ(read_last(folder.write("a.json.bz2", bzipped(text))).trials.size(), 2u);
  EXPECT_THROW(read_last(folder.path() / "none.json"), Error);
  EXPECT_THROW(read_last(folder.path()), Error);
}

TEST(Recording, IsReadFromAllStreamsOfACompressedFile) {
  const TuningFolder folder;
  const std::string begin = kHeader + kFirst;
  const auto gz = folder.write("a.gz", gzipped(begin) + gzipped(kOldFailure));
  EXPECT_EQ(read_last(gz).trials.size(), 2u);
  const auto bz2 = folder.write("a.bz2", bzipped(begin) + bzipped(kOldFailure) + bzipped(kNewFailure));
  EXPECT_EQ(read_last(bz2).trials.size(), 3u);
}

TEST(Recording, SaysWhereACompressedFileIsCut) {
  const TuningFolder folder;
  const std::string gz = gzipped(kHeader + kFirst), bz2 = bzipped(kHeader + kFirst), more = bzipped(kOldFailure);
  const auto expect_cut = [&](const std::string& bytes) {
    const std::string said = folder.complaint([&] { read_last(folder.write("a.json", bytes)); });
    EXPECT_TRUE(has(said, fmt::format("a.json: cannot be read: it is damaged before byte {}: the file ends within it",
                                      bytes.size())));
  };
  for (const std::size_t cut : {gz.size() / 2, gz.size() - 6, gz.size() - 1, std::size_t{2}})
    expect_cut(gz.substr(0, cut));
  for (const std::size_t cut : {bz2.size() / 2, bz2.size() - 1, std::size_t{3}}) expect_cut(bz2.substr(0, cut));
  for (const std::size_t cut : {more.size() / 2, std::size_t{2}}) expect_cut(bz2 + more.substr(0, cut));
}

TEST(Recording, SaysWhereACompressedFileIsDamaged) {
  const TuningFolder folder;
  const std::string text = kHeader + kFirst + kOldFailure;
  const auto complaint_of = [&](const std::string& bytes) {
    return folder.complaint([&] { read_last(folder.write("a.json", bytes)); });
  };
  std::string gz = gzipped(text), bz2 = bzipped(text);
  gz[gz.size() / 2] ^= 0x55;
  bz2[bz2.size() / 2] ^= 0x55;
  EXPECT_TRUE(has(complaint_of(gz), "a.json: cannot be read: it is damaged before byte "));
  EXPECT_TRUE(has(complaint_of(bz2), "a.json: cannot be read: it is damaged before byte "));
  const std::string whole = bzipped(text);
  EXPECT_TRUE(has(complaint_of(whole + "rest"), fmt::format("before byte {}: no bzip2 stream", whole.size() + 1)));
}

TEST(Recording, ThatUnpacksToMuchMoreThanItsSizeIsRefused) {
  const TuningFolder folder;
  const std::string text = kHeader + kFirst, blanks(std::size_t{40} << 20, ' ');
  const auto complaint_of = [&](const std::string& first, const std::string& blank) {
    std::string bytes = first;
    for (int i = 0; i < 7; ++i) bytes += blank;
    return folder.complaint([&] { read_last(folder.write("a.json", bytes)); });
  };
  const std::string why =
      "a.json: cannot be read: it unpacks to more than 256 MiB, which no recording of its size does";
  EXPECT_TRUE(has(complaint_of(bzipped(text), bzipped(blanks)), why));
  EXPECT_TRUE(has(complaint_of(gzipped(text), gzipped(blanks)), why));
}

const std::string kCsv =
    "mesh_idx,name,status,BM,MODE,met (ms),min (ms),mean (ms),p95 (ms),ci_low (ms),ci_high "
    "(ms),iters,checked,max_error,"
    "stage,cause,reason\n";

TEST(Recording, ReadsACsvFilesTextsAsTheyStand) {
  const recording::Recording recording = read(kCsv + "0,x,ok,16,\"[a, \"\"b\"\"\n\x1b\",1,1,1,1,,,7,yes,0,,,\n");
  ASSERT_EQ(recording.trials.size(), 1u);
  EXPECT_EQ(recording.trials[0].settings[1].value, Value(std::string("[a, \"b\"\n\x1b")));
}

TEST(Recording, RefusesACsvFileOfAnotherShape) {
  EXPECT_EQ(complaint("mesh_idx,name,status,met (ms),max_error,stage\n0,x,ok,1,,\n"),
            "run.json:1: the column 'min (ms)' is missing behind 'met (ms)'");
  EXPECT_EQ(complaint("mesh_idx,name,status,BM,BM" + kCsv.substr(kCsv.find(",met")) + "\n"),
            "run.json:1: the column 'BM' stands twice");
  EXPECT_EQ(complaint(kCsv + "0,x,ok,16,a,1,1,1,1,,,1e300,yes,0,,,\n"), "run.json:2: iters: 1e300 is no count");
  EXPECT_EQ(complaint(kCsv + "0,x,ok,16,\xff,1,1,1,1,,,7,yes,0,,,\n"),
            "run.json:2: the byte \\xff is no UTF-8; save the file as UTF-8");
}

TEST(Recording, AFigureThatIsCalledLikeAParameterDoesNotReplaceIt) {
  recording::Recording recording = read(kHeader + kFirst + kOldFailure);
  std::get<Measurement>(recording.trials[0].outcome).metrics["BM"] = 0.5;
  recording.objectives = {"BM"};
  const recording::Recording again = read(recording::to_kernel_tuner(recording, "2026-01-01"));
  EXPECT_EQ(again.trials.at(0).settings[0].value, Value(std::int64_t{16}));
  EXPECT_EQ(again.trials.at(1).settings[0].value, Value(std::int64_t{32}));
  EXPECT_EQ(measurement(again, 0).metrics.at("BM (reported)"), 0.5);
  EXPECT_EQ(again.objectives, std::vector<std::string>{"BM (reported)"});
}

TEST(Recording, AFigureThatIsCalledLikeAKeyOfTheFormatDoesNotReplaceIt) {
  recording::Recording recording = read(kHeader + kFirst + kOldFailure);
  for (const char* name : {"times", "timestamp", "message"})
    std::get<Measurement>(recording.trials[0].outcome).metrics[name] = 0.5;
  recording.objectives = {"times"};
  const recording::Recording again = read(recording::to_kernel_tuner(recording, "2026-01-01"));
  for (const char* name : {"times (reported)", "timestamp (reported)", "message (reported)"})
    EXPECT_EQ(measurement(again, 0).metrics.at(name), 0.5) << name;
  EXPECT_EQ(measurement(again, 0).timing.median, measurement(recording, 0).timing.median);
  EXPECT_EQ(again.objectives, std::vector<std::string>{"times (reported)"});
}

TEST(Recording, RefusesNumbersThatCouldNotBeWrittenAgain) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kHeader + kFirst;
    return complaint(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_EQ(with("\"time\": 2.0", "\"time\": 5e-324"), "run.json:7: no launch takes 5e-324 ms");
  EXPECT_EQ(with("\"compile_time\": 1000.0", "\"compile_time\": 1e308"),
            "run.json:8: compile_time is 1e308: a duration cannot be");
  EXPECT_EQ(with("{\"BM\": 16,", "{\"BM\": NaN,"), "run.json:7: a parameter's value must be finite, not 'NaN'");
}

TEST(Recording, ReadsKeysWithoutTheirEscapes) {
  const std::string text = R"({"device_name": "x", "kernel_name": "y", "problem_size": "z",
    "tune_params_keys": ["B\"M"], "tune_params": {"B\u0022M": [1]}, "cache": {"1": {"B\u0022M": 1, "time": 2.0})";
  const recording::Recording recording = read(text);
  EXPECT_EQ(recording.parameters[0].name, "B\"M");
  EXPECT_EQ(recording.trials[0].settings[0].name, "B\"M");
}

TEST(RecordedTrials, ValuesThatAreEqualInPythonAreKeptApart) {
  const std::string text = R"({"device_name": "x", "kernel_name": "y", "problem_size": "z", "tune_params_keys": ["T"],
    "tune_params": {"T": [1, 1.5, true, "1"]}, "cache": {"1": {"T": 1, "time": 1.0}, "True": {"T": true, "time": 2.0},
    "'1'": {"T": "1", "time": 3.0}, "1.5": {"T": 1.5, "time": 4.0}, "1 again": {"T": 1, "time": 5.0}})";
  const recording::Recording recording = read(text);
  ASSERT_EQ(recording.trials.size(), 4u);
  const recording::RecordedTrials trials(recording);
  const auto time_of = [&](const Value& value) {
    const recording::RecordedTrial* found = trials.find(std::vector<Setting>{{"T", value}});
    return found == nullptr ? 0 : std::get<Measurement>(found->outcome).timing.median * 1e3;
  };
  EXPECT_DOUBLE_EQ(time_of(std::int64_t{1}), 5);
  EXPECT_DOUBLE_EQ(time_of(Bool{true}), 2);
  EXPECT_DOUBLE_EQ(time_of(std::string("1")), 3);
  EXPECT_DOUBLE_EQ(time_of(1.5), 4);
  EXPECT_EQ(trials.find(std::vector<Setting>{{"T", 1.0}}), nullptr) << "none of the three";
  const recording::Recording again =
      recording::parse_recordings(recording::to_kernel_tuner(recording, "now"), "again").back();
  EXPECT_EQ(again.trials.size(), 4u);
}

TEST(RecordedTrials, AreFoundByValuesInAnyOrderAndType) {
  const recording::Recording recording = read(kHeader + kFirst + kOldFailure);
  const recording::RecordedTrials trials(recording);
  const std::vector<Setting> first = {{"MODE", std::string("a")}, {"BM", 16.0}, {"FLAG", std::int64_t{1}}};
  EXPECT_EQ(trials.find(first), &recording.trials[0]);
  const std::vector<Setting> without = {{"BM", std::int64_t{32}}, {"MODE", std::string("a")}};
  EXPECT_EQ(trials.find(without), &recording.trials[1]);
  const std::vector<Setting> absent = {{"BM", std::int64_t{64}}, {"MODE", std::string("a")}};
  EXPECT_EQ(trials.find(absent), nullptr);
  const std::vector<Setting> unknown = {{"BM", std::int64_t{16}}, {"MODE", std::string("a")}, {"X", std::int64_t{1}}};
  EXPECT_EQ(trials.find(unknown), nullptr);
  const std::vector<Setting> other = {{"BM", std::int64_t{16}}, {"MODE", std::string("a")}, {"FLAG", std::int64_t{0}}};
  EXPECT_EQ(trials.find(other), nullptr);
}

}  // namespace
}  // namespace tune::recording_test

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend.h"
#include "model/values/error.h"
#include "platform/store/store.h"
#include "program/program_command.h"

namespace tune::program_worker_test {
namespace {

namespace fs = std::filesystem;

/// Each test has a folder; programs are built and run through the backend as the worker would.
class ProgramWorker : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tune test XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
    fs::create_directory(folder_ / "out");
    build_.output = folder_ / "out";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::string script(const std::string& text) const {
    const std::string path = write("script.sh", "#!/bin/sh\n" + text + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  void build(const std::string& source) {
    build_.source = run_.source = source;
    measure_.artifact = folder_ / "out" / worker::make_backend()->build(build_).artifact;
  }

  wire::MeasureRequest request() const {
    wire::MeasureRequest request = measure_;
    request.what = run_;
    return request;
  }

  wire::Measured measure() const {
    const auto backend = worker::make_backend();
    backend->load(request());
    return *backend->measure({}, [](const wire::Event&) {});
  }

  wire::Measured run_script(const std::string& text) {
    run_.source = script(text);
    return measure();
  }

  template <typename Action>
  static std::string refusal(Stage stage, Action action) {
    try {
      action();
    } catch (const worker::SpecFailure& refused) {
      EXPECT_EQ(to_text(refused.stage()), to_text(stage));
      return refused.what();
    }
    return "accepted";
  }

  /// What the refusal of an action tells the driver.
  template <typename Action>
  static wire::Failed failed(Action action) {
    try {
      action();
    } catch (const worker::SpecFailure& refused) {
      return refused.failed();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }

  /// Why the machine, and not the spec, is at fault.
  template <typename Action>
  static std::string fault_of_environment(Action action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::environment);
      return error.what();
    }
    return "accepted";
  }

  std::string binary() const { return folder_ / "out" / "program"; }

  fs::path folder_;
  wire::BuildRequest build_;
  wire::MeasureRequest measure_;
  wire::ProgramRun run_;
};

constexpr auto kPrintsX = "#include <cstdio>\nint main() { std::printf(\"{\\\"time\\\": %d}\", X); }\n";

TEST_F(ProgramWorker, BuildsAndRunsACppProgramByDefaultRules) {
  build_.defines = {{"X", "3"}};
  build(write("program.cpp", kPrintsX));
  const auto measured = measure();
  EXPECT_EQ(measured.timing.median, 3);
  EXPECT_FALSE(measured.checked);
}

TEST_F(ProgramWorker, BuildsCAsC) {
  build(
      write("program.c", "#include <stdio.h>\nint main(void) { int new = 4; printf(\"{\\\"time\\\": %d}\", new); }\n"));
  EXPECT_EQ(measure().timing.median, 4);
}

TEST_F(ProgramWorker, FindsThePublicHeader) {
  build(write(
      "program.cpp",
      "#include \"tune/bench.h\"\n"
      "int main(int argc, char** argv) {\n"
      "  const tune::bench::Arguments arguments(argc, argv);\n"
      "  auto result = tune::bench::measure(\"a \\\"b\\\"\", [] { tune::bench::clobber_memory(); }, {1, 5, 5, 0});\n"
      "  result.metric(\"N\", static_cast<double>(arguments.integer(\"N\", 1)));\n"
      "  result.metric(\"undefined\", 0.0 / 0.0);\n"
      "  result.ok(true);\n"
      "  return tune::bench::report(result, arguments);\n"
      "}\n"));
  run_.args = {"--N=-8"};
  const auto measured = measure();
  EXPECT_EQ(measured.timing.count, 5);
  EXPECT_TRUE(measured.checked);
  EXPECT_EQ(measured.metrics, (std::map<std::string, double>{{"N", -8}}));
}

TEST_F(ProgramWorker, AFailedBuildNamesTheErrorAndLeavesNoProgram) {
  const std::string source = write("program.cpp", "int main() { return missing; }\n");
  const auto message = refusal(Stage::build, [&] { build(source); });
  EXPECT_NE(message.find("the build ended with exit code 1: "), std::string::npos) << message;
  EXPECT_NE(message.find("missing"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(binary()));
  EXPECT_NE(refusal(Stage::build, [&] { build(write("program.cpp", "int main() { return VEC; }\n")); })
                .find("; if the tuning file is to define VEC, add it"),
            std::string::npos);
}

TEST_F(ProgramWorker, ABuildReportsWhatItsCompilerSaysOfTheMachine) {
  const auto build_says = [&](const std::string& text) {
    build_.command.words = {"echo '" + text + "' >&2; exit 1; : {binary}"};
    build_.command.is_shell = true;
    return failed([&] { build(write("a.mojo", "")); });
  };
  EXPECT_EQ(build_says("g++: fatal error: Killed signal terminated program cc1plus").facts,
            (FailureFacts{.exit_code = 1, .machine_suspected = true}));
  EXPECT_EQ(build_says("a.s: No space left on device").room_error, ENOSPC);
  EXPECT_EQ(build_says("error: killed by signal 9 ").facts, FailureFacts{.exit_code = 1});
}

TEST_F(ProgramWorker, AProgramReportsItsEndWhateverItPrints) {
  EXPECT_EQ(failed([&] { run_script("kill -KILL $$"); }).facts,
            (FailureFacts{.signal = SIGKILL, .machine_suspected = true}));
  EXPECT_EQ(failed([&] { run_script("no-such-program"); }).facts,
            (FailureFacts{.exit_code = 127, .machine_suspected = true}));
  const auto printed = failed([&] {
    run_script("echo 'error: ended with exit code 127, killed by signal 9 (killed): No space left on device'; exit 3");
  });
  EXPECT_EQ(printed.facts, FailureFacts{.exit_code = 3});
  EXPECT_EQ(printed.room_error, 0);
}

TEST_F(ProgramWorker, AFailedCommandLeavesNoHalfProgram) {
  build_.command.words = {"touch {binary}; kill -SEGV $$"};
  build_.command.is_shell = true;
  EXPECT_EQ(refusal(Stage::build, [&] { build(write("a.mojo", "")); }),
            "the build was killed by signal 11 (segmentation fault)");
  EXPECT_FALSE(fs::exists(binary()));
}

TEST_F(ProgramWorker, ABuildThatWritesNoProgramFails) {
  build_.command.words = {"true"};
  const auto message = refusal(Stage::build, [&] { build(write("a.mojo", "")); });
  EXPECT_NE(message.find("did not write its program"), std::string::npos) << message;
}

TEST_F(ProgramWorker, ACompilerThatIsMissingIsNamed) {
  build_.command.words = {"no-such-compiler", "{file}"};
  const auto message = fault_of_environment([&] { build(write("a.mojo", "")); });
  EXPECT_NE(message.find("no-such-compiler"), std::string::npos) << message;
}

TEST_F(ProgramWorker, ACommandThatDropsDefinesOrFlagsIsRefused) {
  build_.command.words = {"cp", "{file}", "{binary}"};
  build_.defines = {{"X", "3"}};
  EXPECT_NE(refusal(Stage::build, [&] { build(script("")); }).find("{defines}"), std::string::npos);
  build_.defines.clear();
  build_.flags = {"-O3"};
  EXPECT_NE(refusal(Stage::build, [&] { build(script("")); }).find("{flags}"), std::string::npos);
}

TEST_F(ProgramWorker, AFileWithoutRuleAsksForABuildCommand) {
  run_.source = write("bench.mojo", "");
  build_.source = run_.source;
  EXPECT_NE(refusal(Stage::build, [&] { worker::make_backend()->build(build_); }).find("set build.command"),
            std::string::npos);
  EXPECT_NE(fault_of_environment([&] { measure(); }).find("set build.command"), std::string::npos);
}

const std::vector<std::string> kWeird = {"a b", "it's", "\"q\"", "$HOME", "`id`", "\\", "*", "", "{file}", "a;exit 9"};

constexpr auto kShowsArguments = "for word in \"$@\"; do printf '<%s>' \"$word\" >&2; done; echo '{\"time\": 1}'";

TEST_F(ProgramWorker, ArgumentsReachTheProgramVerbatim) {
  run_.args = kWeird;
  for (const bool shell : {false, true}) {
    run_.rules.run.words = shell ? Words{"{file} {args}"} : Words{"{file}", "{args}"};
    run_.rules.run.is_shell = shell;
    testing::internal::CaptureStderr();
    run_script(kShowsArguments);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("<a b><it's><\"q\"><$HOME><`id`><\\><*><><{file}><a;exit 9>"),
              std::string::npos);
  }
}

TEST_F(ProgramWorker, DefinesReachTheBuildVerbatim) {
  build_.defines = {{"T", "it's $HOME \"x\""}, {"N", "(-1)"}};
  for (const bool shell : {false, true}) {
    build_.command.words = shell ? Words{"{file} {binary} {defines}"} : Words{"{file}", "{binary}", "{defines}"};
    build_.command.is_shell = shell;
    build(script("out=$1; shift; printf '<%s>' \"$@\" > \"$out\""));
    EXPECT_EQ(platform::read_file(binary()), "<-DT=it's $HOME \"x\"><-DN=(-1)>");
  }
}

TEST_F(ProgramWorker, ReadsTheFileOfTuneResultOrOfTheOutputPlaceholder) {
  EXPECT_EQ(run_script("echo '{\"time\": 2}' > \"$TUNE_RESULT\"; echo '{\"time\": 9}'").timing.median, 2);
  run_.rules.run.words = {"{file}", "-o", "{output}"};
  EXPECT_EQ(run_script("printf 'name,met (ms),iters\\nx,1500,4\\n' > \"$2\"").timing.median, 1.5);
}

TEST_F(ProgramWorker, RunsAPythonFileWithoutABuild) {
  run_.source = write("bench.py", "import sys\nprint('{\"time\": %s, \"ok\": true}' % sys.argv[1][4:])\n");
  run_.args = {"--X=6"};
  const auto measured = measure();
  EXPECT_EQ(measured.timing.median, 6);
  EXPECT_TRUE(measured.checked);
}

TEST_F(ProgramWorker, AnEarlierResultIsNeverTakenForThisRuns) {
  run_.source = script("test -e \"$0.ran\" || echo '{\"time\": 1}' > \"$TUNE_RESULT\"; touch \"$0.ran\"");
  const auto backend = worker::make_backend();
  backend->load(request());
  const auto once = [&] { return *backend->measure({}, [](const wire::Event&) {}); };
  EXPECT_EQ(once().timing.median, 1);
  EXPECT_NE(refusal(Stage::measure, once).find("wrote no result"), std::string::npos);
}

TEST_F(ProgramWorker, ACrashIsNamedAndItsResultNotUsed) {
  build(write("program.cpp",
              "#include <csignal>\n#include <cstdio>\n"
              "int main() { std::puts(\"{\\\"time\\\": 1}\"); std::fflush(stdout); std::raise(SIGSEGV); }\n"));
  constexpr auto kCrash = "the program was killed by signal 11 (segmentation fault)";
  EXPECT_EQ(refusal(Stage::measure, [&] { measure(); }), kCrash);
  run_.rules.run.words = {"{binary}; exit $?"};
  run_.rules.run.is_shell = true;
  EXPECT_EQ(refusal(Stage::measure, [&] { measure(); }), kCrash);
}

TEST_F(ProgramWorker, AnExitCodeComesWithTheLineThatExplainsIt) {
  EXPECT_EQ(refusal(Stage::measure, [&] { run_script("echo '{\"time\": 1}'; echo no card >&2; exit 3"); }),
            "the program ended with exit code 3: no card");
}

TEST_F(ProgramWorker, NoResultAndTwoResultsAreRefused) {
  EXPECT_NE(refusal(Stage::measure, [&] { run_script("true"); }).find("wrote no result"), std::string::npos);
  EXPECT_NE(
      refusal(Stage::measure, [&] { run_script("echo '{\"time\": 1}'; echo '{\"time\": 2}'"); }).find("2 results"),
      std::string::npos);
}

TEST_F(ProgramWorker, AWrongResultFailsTheCheck) {
  EXPECT_EQ(refusal(Stage::check, [&] { run_script("echo '{\"time\": 1, \"ok\": false}'"); }),
            "the program says that its result is wrong");
}

TEST_F(ProgramWorker, WhatAProgramPrintsGoesIntoTheLog) {
  testing::internal::CaptureStderr();
  run_script("echo '{\"time\": 1}'; echo diagnosis >&2");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("{\"time\": 1}"), std::string::npos);
  EXPECT_NE(log.find("diagnosis"), std::string::npos);
}

TEST_F(ProgramWorker, ProbeDescribesTheMachine) {
  const auto hello = worker::make_backend()->probe();
  EXPECT_EQ(hello.backend, tune::Backend::program);
  EXPECT_EQ(hello.device.arch, "native");
  EXPECT_FALSE(hello.device.name.empty());
  EXPECT_FALSE(hello.compiler.empty());
  for (const auto name : traits_of(tune::Backend::program).device_names)
    EXPECT_TRUE(hello.device.properties.contains(std::string(name))) << name;
}

TEST(ProgramCommand, NamesTheArchitectureUnlessTheFlagsDo) {
  const auto has = [](const Words& words, const char* word) { return std::ranges::find(words, word) != words.end(); };
  EXPECT_TRUE(has(worker::default_build_command(Language::cuda, "", {}), "-arch=native"));
  EXPECT_TRUE(has(worker::default_build_command(Language::cuda, "sm_90a", {}), "arch=compute_90a,code=sm_90a"));
  EXPECT_FALSE(has(worker::default_build_command(Language::cuda, "native", {"-arch=sm_80"}), "-arch=native"));
  EXPECT_TRUE(has(worker::default_build_command(Language::hip, "gfx90a", {}), "--offload-arch=gfx90a"));
}

TEST(ProgramCommand, ReplacesPlaceholdersInsideWordsAndLeavesOtherBraces) {
  const Placeholders placeholders = {{"file", {"a.cu"}}, {"flags", {"-x", "-y"}}};
  EXPECT_EQ(expand_command({"-o={file}", "${file}", "{print}", "{", "[{flags}]"}, false, placeholders),
            (Words{"-o=a.cu", "${file}", "{print}", "{", "[-x -y]"}));
}

}  // namespace
}  // namespace tune::program_worker_test

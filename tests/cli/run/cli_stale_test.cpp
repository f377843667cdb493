// What is built and run is what the keys of the store and the journal were made of: sources that are edited while a run
// goes on, and what else a build reads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_stale_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kCompiler = "#!/bin/sh\n[ \"$1\" = --version ] && exec c++ --version\n";

class Stale : public testing::Test {
 protected:
  void write_program(const std::string& name, const std::string& text) const {
    fs::create_directories((sandbox_.folder() / name).parent_path());
    fs::permissions(sandbox_.write(name, text), fs::perms::owner_all);
  }
  /// Compiles by $CXX, which runs `before` and `after` around the first compiler.
  void edit_in_mid_build(const std::string& before, const std::string& after = ":") {
    write_program("cxx", std::string(kCompiler) + "mkdir \"$0.once\" 2> /dev/null && first=1\n[ $first ] && { " +
                             before + "; }\nc++ \"$@\"; code=$?\n[ $first ] && { " + after + "; }\nexit $code\n");
    sandbox_.environment["CXX"] = (sandbox_.folder() / "cxx").string();
  }
  /// A program that prints the time NUMBER ms, which `build` must define.
  void write_timed(const std::string& build, const std::string& text) const {
    sandbox_.write("p.cpp",
                   "#include <cstdio>\n" + text +
                       "\nint main() { std::printf(\"{\\\"time\\\": %d, \\\"ok\\\": true}\\n\", NUMBER + P); }\n");
    sandbox_.write("p.yaml", "name: p\nfile: p.cpp\nparams: {P: [0]}\n" + build);
  }
  double seconds() const {
    const Result result = sandbox_.tune({"p.yaml", "--output", "out", "--no-finals"});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    const auto trials = sandbox_.trials("out.jsonl");
    const Measurement* measurement = trials.empty() ? nullptr : trials.back().trial.measurement();
    return measurement == nullptr ? -1 : measurement->timing.median;
  }
  void run(const std::string& command) const {
    EXPECT_EQ(std::system(("cd '" + sandbox_.folder().string() + "' && " + command).c_str()), 0) << command;
  }

  Sandbox sandbox_;
};

TEST_F(Stale, ASourceThatIsEditedWhileItIsCompiledEndsTheRunAndLeavesNothingInTheStore) {
  sandbox_.write_gemm();
  edit_in_mid_build("echo '// edited' >> gemm.cpp");
  const Result result = sandbox_.tune({"gemm.yaml", "--jobs", "1"});
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(has(result.err, "gemm.cpp has changed since this run began. What was made of it is thrown away;"));
  EXPECT_EQ(sandbox_.artifacts(), 0);
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--jobs", "1"}).code, 0) << "the new version";
}

TEST_F(Stale, AHeaderThatAppearsBeforeTheOneThatWasMeantEndsTheRun) {
  sandbox_.write_gemm();
  sandbox_.write("gemm.cpp", "#include <extra.h>\n" + sandbox_.read("gemm.cpp"));
  sandbox_.write("gemm.yaml", sandbox_.read("gemm.yaml") + "build: {include: [first, second]}\n");
  fs::create_directories(sandbox_.folder() / "first");
  sandbox_.write("second/extra.h", "");
  edit_in_mid_build("echo > first/extra.h");
  const Result result = sandbox_.tune({"gemm.yaml", "--jobs", "1"});
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(has(result.err, "first/extra.h is new, and may be included instead of another"));
  EXPECT_EQ(sandbox_.artifacts(), 0);
}

TEST_F(Stale, ABuildThatMayHaveSeenAnotherVersionIsBuiltAgain) {
  sandbox_.write_gemm();
  edit_in_mid_build("cp gemm.cpp kept; echo '#error seen' >> gemm.cpp", "cat kept > gemm.cpp");
  const Result result = sandbox_.tune({"gemm.yaml", "--jobs", "1", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(result.err, "gemm.cpp was written to, with the content that it had"));
  EXPECT_FALSE(result.out.find("seen") != std::string::npos) << result.out;
  EXPECT_EQ(sandbox_.artifacts(), 4);
}

TEST_F(Stale, ASourceThatIsWrittenToAgainAndAgainEndsTheRun) {
  sandbox_.write_gemm();
  edit_in_mid_build(":");
  write_program("cxx", std::string(kCompiler) + "touch gemm.cpp\nexec c++ \"$@\"\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--jobs", "1"});
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(has(result.err, "written to again and again"));
}

TEST_F(Stale, AScriptThatIsEditedWhileItIsRunEndsTheRun) {
  sandbox_.write_script("{T: [1, 2, 3]}");
  sandbox_.write("bench.sh", sandbox_.read("bench.sh") + "[ $time = 2 ] && echo '# edited' >> \"$0\"\nexit 0\n");
  const Result result = sandbox_.tune({"bench.yaml", "--output", "out", "--strategy", "exhaustive"});
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_TRUE(has(result.err, "bench.sh has changed since this run began"));
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 1u) << "of the version before";
}

TEST_F(Stale, AHeaderThatABuildCommandMakesIsNotAnEdit) {
  write_timed("build: {command: \"echo '#define NUMBER 3' > made.h; c++ {defines} {file} -o {binary}\"}\n",
              "#include \"made.h\"");
  EXPECT_EQ(seconds(), 3);
}

TEST_F(Stale, AnotherStaticLibraryIsBuiltAndRunAgain) {
  write_timed("build: {flags: [-L., -lnumber]}\n", "int number();\n#define NUMBER number()");
  run("echo 'int number() { return 3; }' | c++ -x c++ -c - -o n.o && ar rcs libnumber.a n.o");
  EXPECT_EQ(seconds(), 3);
  run("echo 'int number() { return 5; }' | c++ -x c++ -c - -o n.o && ar rcs libnumber.a n.o");
  EXPECT_EQ(seconds(), 5);
  write_timed("build: {flags: [./libnumber.a]}\n", "int number();\n#define NUMBER number()");
  EXPECT_EQ(seconds(), 5);
  run("echo 'int number() { return 7; }' | c++ -x c++ -c - -o n.o && ar rcs libnumber.a n.o");
  EXPECT_EQ(seconds(), 7);
}

TEST_F(Stale, OtherOptionsInAFileAreBuiltAndRunAgain) {
  write_timed("build: {flags: ['@options']}\n", "");
  sandbox_.write("options", "-Iinc\n-DNUMBER=3");
  EXPECT_EQ(seconds(), 3);
  sandbox_.write("options", "-Iinc\n-DNUMBER=5");
  EXPECT_EQ(seconds(), 5);
  write_timed("build: {flags: ['@options']}\n", "#include <number.h>");
  sandbox_.write("options", "-Iinc\n");
  sandbox_.write("inc/number.h", "#define NUMBER 7\n");
  EXPECT_EQ(seconds(), 7);
  sandbox_.write("inc/number.h", "#define NUMBER 9\n");
  EXPECT_EQ(seconds(), 9) << "a header in a folder that the file names";
}

TEST_F(Stale, AnotherCompilerBehindABuildCommandBuildsAgain) {
  sandbox_.environment["PATH"] = (sandbox_.folder() / "bin").string() + ":" + std::getenv("PATH");
  for (const char* command :
       {"[mycc, '{defines}', '{file}', -o, '{binary}']", "'exec mycc {defines} {file} -o {binary}'",
        "[sh, -c, 'mycc \"$@\"', sh, '{defines}', '{file}', -o, '{binary}']"}) {
    write_timed(std::string("build: {command: ") + command + "}\n", "");
    for (const char* number : {"3", "5"}) {
      write_program("bin/mycc", std::string("#!/bin/sh\nexec c++ -DNUMBER=") + number + " \"$@\"\n");
      EXPECT_EQ(seconds(), std::atoi(number)) << command;
    }
  }
}

TEST_F(Stale, ACompilerThatIsAFrontEndIsKnownByWhatItSaysOfItsVersion) {
  sandbox_.environment["PATH"] = (sandbox_.folder() / "bin").string() + ":" + std::getenv("PATH");
  write_program("bin/mojo",
                "#!/bin/sh\nnumber=$(cat \"${0%/*}/number\")\n[ \"$1\" = --version ] && exec echo \"mojo $number\"\n"
                "exec c++ -DNUMBER=$number \"$@\"\n");
  write_timed("build: {command: [mojo, '{defines}', '{file}', -o, '{binary}']}\n", "");
  for (const char* number : {"3", "5"}) {
    sandbox_.write("bin/number", number);
    EXPECT_EQ(seconds(), std::atoi(number));
  }
}

TEST_F(Stale, FilesThatABuildReadsAndNoKeyKnowsAreSaid) {
  write_timed("build: {command: \"c++ {defines} -I$(echo hidden) {file} -o {binary}\"}\n", "#include \"a b.h\"");
  sandbox_.write("hidden/a b.h", "#include \"c.h\"\n#define NUMBER 3\n");
  sandbox_.write("hidden/c.h", "");
  const std::string hidden = (sandbox_.folder() / "hidden").string();
  const auto said = [&] { return sandbox_.tune({"p.yaml", "--output", "out"}).err; };
  EXPECT_TRUE(has(said(), "builds read " + hidden +
                              "/a b.h and 1 other file that tune does not know of: when it "
                              "changes, nothing is built anew; name it in build.depends\n"));
  write_timed(
      "build: {command: \"c++ {defines} -I$(echo hidden) {file} -o {binary}\", depends: ['hidden/a b.h', "
      "hidden/c.h]}\n",
      "#include \"a b.h\"");
  EXPECT_EQ(said().find("builds read"), std::string::npos);
}

TEST_F(Stale, TheHeadersOfAKernelThatAMacroNamesAreSaid) {
  sandbox_.write_gemm("build: {flags: ['-DHEADER=\"inc/extra.h\"']}\n");
  sandbox_.write("gemm.cpp", "#include HEADER\n" + sandbox_.read("gemm.cpp"));
  sandbox_.write("inc/extra.h", "");
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml"}).err,
                  "builds read " + (sandbox_.folder() / "inc/extra.h").string() + ": when it changes"));
}

TEST_F(Stale, NothingIsSaidOfOrdinaryBuilds) {
  sandbox_.write_gemm();
  sandbox_.write("gemm.cpp", "#include <vector>\n#include \"inc/extra.h\"\n" + sandbox_.read("gemm.cpp"));
  sandbox_.write("inc/extra.h", "");
  EXPECT_EQ(sandbox_.tune({"gemm.yaml"}).err.find("builds read"), std::string::npos);
  // A copy in another folder gets the same build, which read the files of the first.
  for (const char* file : {"gemm.yaml", "gemm.cpp", "inc/extra.h"})
    sandbox_.write(std::string("copy/") + file, sandbox_.read(file));
  const Result copied = sandbox_.tune({"copy/gemm.yaml", "--output", "copied"});
  EXPECT_EQ(copied.err.find("builds read"), std::string::npos) << copied.err;
  EXPECT_EQ(sandbox_.artifacts(), 4) << "of the four values of BM";
  write_timed("", "#include <tune/bench.h>\n#define NUMBER 3");
  EXPECT_EQ(sandbox_.tune({"p.yaml", "--output", "out"}).err.find("builds read"), std::string::npos);
}

TEST_F(Stale, NothingIsSaidOfWhatAnOldWinnerWasBuiltFrom) {
  sandbox_.write_gemm();
  ASSERT_EQ(sandbox_.tune({"gemm.yaml", "--tune", "--output", "old"}).code, 0);
  std::filesystem::rename(sandbox_.folder() / "gemm.cpp", sandbox_.folder() / "new.cpp");
  std::string file = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", file.replace(file.find("gemm.cpp"), 8, "new.cpp") + "build: {flags: [-DNEW]}\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--tune", "--output", "new", "--baseline", "old.yaml"});
  EXPECT_TRUE(has(result.out, "x old.yaml: "));
  EXPECT_EQ(result.err.find("builds read"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_stale_test

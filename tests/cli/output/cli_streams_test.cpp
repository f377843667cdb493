// Where stdout and stderr lead to may be full, closed or gone.
#include <gtest/gtest.h>

#include <fstream>

#include "platform/process/process.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_streams_test {
namespace {

class Streams : public testing::Test {
 protected:
  /// What a shell script prints in which $TUNE is the program.
  std::string shell(const std::string& script) const {
    platform::Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = sandbox_.environment;
    command.environment["TUNE"] = TUNE_BIN_DIR "/tune";
    command.directory = sandbox_.folder();
    return platform::run(command).output;
  }
  bool all_written(const std::string& prefix) const {
    for (const char* ending : {".csv", ".jsonl", ".yaml"})
      if (!std::filesystem::exists(sandbox_.folder() / (prefix + ending))) return false;
    return true;
  }

  Sandbox sandbox_;
};

TEST_F(Streams, AFullStderrChangesNothing) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  EXPECT_TRUE(has(shell("$TUNE bench.yaml --tune -o best 2>/dev/full; echo code $?"), "top_spec_idx: 1\n"));
  EXPECT_TRUE(all_written("best"));
  EXPECT_EQ(shell("$TUNE bench.yaml --tune -v -o logged 2>/dev/full >/dev/null; echo $?"), "0\n");
  EXPECT_EQ(shell("$TUNE nofile.yaml 2>/dev/full; echo $?"), "2\n");
  EXPECT_EQ(shell("$TUNE nofile.yaml 2>&-; echo $?"), "2\n");
}

TEST_F(Streams, AReaderThatLeavesEndsThePrintingAlone) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  EXPECT_EQ(shell("{ $TUNE bench.yaml --tune -o best 2>&1; echo $? > code; } | true; cat code"), "0\n");
  EXPECT_TRUE(all_written("best"));
  EXPECT_EQ(shell("{ $TUNE bench.yaml --dry-run 2>err; echo $? > code; } | true; cat code err"),
            "0\n3 specs; time unknown: the journal knows too few of them\n");
  EXPECT_EQ(shell("{ $TUNE nofile.yaml 2>&1; echo $? > code; } | true; cat code"), "2\n");
}

TEST_F(Streams, LostResultsAreAnError) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const std::string error = "tune: error: cannot write the results to stdout: No space left on device\n";
  for (const char* arguments : {"bench.yaml -q --tune -o best", "--probe", "--help", "--version",
                                "bench.yaml --dry-run", "bench.yaml --dry-run -q", "bench.yaml -q --build-only",
                                "--simulate best.jsonl", "convert best.jsonl best.json"})
    EXPECT_TRUE(shell(std::string("$TUNE ") + arguments + " 2>&1 >/dev/full; echo $?").ends_with(error + "4\n"))
        << arguments;
  EXPECT_TRUE(all_written("best"));
  // Longer than any buffer.
  sandbox_.write("long.yaml", "name: bench\nfile: bench.sh\nparams: {T: {range: [1, 3000]}}\n");
  EXPECT_TRUE(shell("$TUNE long.yaml --dry-run 2>&1 >/dev/full; echo $?").ends_with(error + "4\n"));
}

TEST_F(Streams, ATerminalThatIsGoneLeavesTheExitCode) {
  sandbox_.write("wait.sh", "#!/bin/sh\ntouch reached\nexec sleep 60\n");
  std::filesystem::permissions(sandbox_.folder() / "wait.sh", std::filesystem::perms::owner_all);
  sandbox_.write("wait.yaml", "{name: wait, file: wait.sh, params: {T: 1}}");
  EXPECT_EQ(shell("$TUNE wait.yaml --tune -o best >/dev/full 2>/dev/full & until test -e reached; do sleep 0.02; done\n"
                  "kill -HUP $!; wait $!; echo $?"),
            "129\n");
}

}  // namespace
}  // namespace tune::cli::cli_streams_test

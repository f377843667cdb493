#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>

#include "platform/process/process.h"
#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_files_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr uid_t kStranger = 12345;

class Files : public testing::Test {
 protected:
  std::string shell(const std::string& script) const {
    platform::Command command;
    command.argv = {"sh", "-c", script};
    command.environment = sandbox_.environment;
    command.environment["TUNE"] = TUNE_BIN_DIR "/tune";
    command.directory = sandbox_.folder();
    const platform::Finished finished = platform::run(command);
    return finished.output + finished.captured;
  }
  std::string path(const std::string& name) const { return (sandbox_.folder() / name).string(); }
  bool exists(const std::string& name) const { return fs::exists(sandbox_.folder() / name); }

  Sandbox sandbox_;
};

/// With a kernel, so that there is something to build.
class StoreFiles : public Files {
 protected:
  void SetUp() override { sandbox_.write_gemm(); }
  Result build(const Words& more = {}) const {
    Words arguments = {"gemm.yaml", "--spec", "0", "--build-only"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sandbox_.tune(arguments);
  }
  /// The only entry of a store.
  fs::path entry(const std::string& store = "cache/tune/store") const {
    return fs::directory_iterator(sandbox_.folder() / store)->path();
  }
};

TEST_F(StoreFiles, AFolderOnTheWayThatAnotherUserOwnsEndsTheRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(build().code, 0);
  ASSERT_EQ(::chown(path("cache/tune/store").c_str(), kStranger, kStranger), 0);
  const Result result = build();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(
      has(result.err, "tune: error: " + path("cache/tune/store") + " belongs to another user (uid 12345): whoever"));
  EXPECT_TRUE(has(result.err, "XDG_CACHE_HOME"));
  EXPECT_TRUE(has(result.err, "--store DIR"));
}

// As `sudo -E` leaves it. The home of root is one of the test's own.
TEST_F(StoreFiles, RootWritesNothingIntoTheHomeOfAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  sandbox_.copy_binaries();
  if (!has(shell("unshare -m sh -c 'mount -t tmpfs none /root && echo yes'"), "yes\n"))
    GTEST_SKIP() << "nothing can be mounted here";
  fs::create_directory(path("theirs"));
  ASSERT_EQ(::chown(path("theirs").c_str(), kStranger, kStranger), 0);
  for (const std::string variables :
       {"-u XDG_CACHE_HOME -u XDG_STATE_HOME HOME=theirs", "XDG_CACHE_HOME=theirs/cache XDG_STATE_HOME=theirs/state"}) {
    const std::string said = shell(
        "unshare -m sh -c 'mount -t tmpfs none /root && env " +
        std::regex_replace(variables, std::regex("theirs"), path("theirs")) +
        " bin/tune gemm.yaml --spec 0 2>&1; echo code $?; ls -d /root/.cache/tune/store /root/.local/state/tune'");
    EXPECT_TRUE(has(said, "code 0\n/root/.cache/tune/store\n/root/.local/state/tune\n"));
    EXPECT_TRUE(has(said, "is another user's, and root's files would be in the way there: /root/.cache/tune is used"));
    EXPECT_TRUE(has(said, "there: /root/.local/state/tune is used instead"));
    EXPECT_TRUE(fs::is_empty(path("theirs"))) << said;
  }
}

TEST_F(StoreFiles, AnEntryThatAnotherUserPutThereIsNotRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  for (const char* name : {"", "kernel.so", "built.json"}) {
    ASSERT_EQ(build().code, 0);
    const std::string file = name[0] == '\0' ? entry().string() : (entry() / name).string();
    ASSERT_EQ(::chown(file.c_str(), kStranger, kStranger), 0);
    const Result result = build();
    EXPECT_EQ(result.code, 4);
    EXPECT_TRUE(has(result.err, "tune: error: " + file + " belongs to another user (uid 12345)"));
    fs::remove_all(path("cache"));
  }
}

TEST_F(StoreFiles, AStoreThatEveryUserCanWriteEndsTheRun) {
  ASSERT_EQ(build().code, 0);
  fs::permissions(path("cache/tune/store"), fs::perms(0777));
  EXPECT_EQ(build().code, 0) << "nobody else can enter the sandbox";
  for (const char* folder : {"", "cache", "cache/tune"}) fs::permissions(path(folder), fs::perms(0755));
  const Result result = build();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "tune: error: " + path("cache/tune/store") + " can be written by every user: whoever"));
}

TEST_F(StoreFiles, AnEntryLeadsNowhereElse) {
  for (const std::string link : {"", "kernel.so"}) {
    ASSERT_EQ(build().code, 0);
    const fs::path folder = entry(), elsewhere = sandbox_.folder() / "elsewhere.so";
    fs::rename(folder / "kernel.so", elsewhere);
    if (!link.empty()) fs::create_symlink(elsewhere, folder / link);
    std::string record = platform::read_file(folder / "built.json");
    if (link.empty()) record.replace(record.find("kernel.so"), 9, elsewhere.string());
    std::ofstream(folder / "built.json") << record;
    EXPECT_EQ(build().code, 0);
    EXPECT_TRUE(has(platform::read_file(folder / "built.json"), "\"artifact\":\"kernel.so\""));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "kernel.so"))) << "it is built again";
    fs::remove_all(path("cache"));
  }
}

TEST_F(StoreFiles, WithoutAHomeThereIsNoStoreInTmp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  sandbox_.copy_binaries();
  fs::permissions(sandbox_.folder(), fs::perms(0777));
  fs::create_directory(path("tmp"));
  fs::permissions(path("tmp"), fs::perms(0777));
  sandbox_.environment["TMPDIR"] = path("tmp");
  const std::string as_stranger =
      "env -u HOME -u XDG_CACHE_HOME -u XDG_STATE_HOME setpriv --reuid=12345 --regid=12345 --clear-groups bin/tune "
      "gemm.yaml --spec 0 ";
  const std::string said = shell(as_stranger + "-o out; echo code $?");
  EXPECT_TRUE(has(said, "code 4\n"));
  EXPECT_TRUE(has(said,
                  "tune: error: there is no folder for the build store: HOME is not set and this user has no home; set "
                  "XDG_CACHE_HOME, or name one by --store DIR\n"));
  EXPECT_TRUE(has(shell(as_stranger + "; echo code $?"), "tune: error: there is no folder for the journal: "));
  EXPECT_TRUE(has(shell(as_stranger + "--dry-run; echo code $?"), "code 0\n")) << "it needs none";
  EXPECT_TRUE(fs::is_empty(path("tmp")));
  EXPECT_TRUE(has(shell(as_stranger + "--store mine --build-only; echo code $?"), "code 0\n"));
}

TEST_F(StoreFiles, ATeamSharesAStoreThatItNames) {
  fs::create_directory(path("team"));
  for (const char* folder : {"", "team"}) fs::permissions(path(folder), fs::perms(0777));
  EXPECT_EQ(build({"--store", "team"}).code, 0);
  EXPECT_FALSE(exists("cache"));
  if (::geteuid() == 0) {
    EXPECT_EQ(::chown(entry("team").c_str(), kStranger, kStranger), 0) << "another one built it";
  }
  if (::geteuid() == 0) {
    sandbox_.copy_binaries();
    fs::create_directory(path("tmp"));
    fs::permissions(path("tmp"), fs::perms(0777));
    EXPECT_TRUE(
        has(shell("TMPDIR=$HOME/tmp setpriv --reuid=54321 --regid=54321 --clear-groups bin/tune gemm.yaml --spec "
                  "0 --build-only --store team/ 2>&1; echo code $?; ls team | wc -l"),
            "code 0\n1\n"))
        << "a third one takes it";
  }
  const auto before = fs::last_write_time(entry("team") / "kernel.so");
  EXPECT_EQ(build({"--store", "team"}).code, 0);
  EXPECT_EQ(fs::last_write_time(entry("team") / "kernel.so"), before) << "it is not built again";
}

TEST_F(StoreFiles, AnEntryOfAnotherUserThatCannotBeReadStandsInNobodysWay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  sandbox_.copy_binaries();
  for (const char* folder : {"team", "tmp", "out"}) fs::create_directory(path(folder));
  for (const char* folder : {"", "team", "tmp", "out"}) fs::permissions(path(folder), fs::perms(0777));
  const std::string as = "TMPDIR=$HOME/tmp setpriv --clear-groups --regid=12345 --reuid=";
  const std::string run = " bin/tune gemm.yaml --spec 0 --store team --output out/best 2>&1; echo code $?";
  EXPECT_TRUE(
      has(shell("umask 077; " + as + "12345 bin/tune gemm.yaml --spec 0 --build-only --store team; echo $?"), "0\n"));
  EXPECT_EQ(fs::status(entry("team") / "kernel.so").permissions() & fs::perms(0444), fs::perms(0444));
  fs::permissions(entry("team"), fs::perms(0700));
  const std::string said = shell(as + "54321" + run);
  EXPECT_TRUE(has(said, "code 0\n"));
  EXPECT_TRUE(has(said, "Number of valid specs: 1\n"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("team")), {}), 1) << "its own build it removed";
}

TEST_F(StoreFiles, AUserNamespaceWithoutRootHasAStore) {
  sandbox_.copy_binaries();
  fs::create_directory(path("cache"));
  for (const char* name : {"", "cache"}) {
    if (::geteuid() != 0) break;
    ASSERT_EQ(::chown(path(name).c_str(), kStranger, kStranger), 0);
  }
  const std::string enter =
      (::geteuid() == 0 ? "setpriv --reuid=12345 --regid=12345 --clear-groups " : "") + std::string("unshare -Ur ");
  if (shell(enter + "stat -c %u /") == "0\n" || !has(shell(enter + "echo yes"), "yes\n"))
    GTEST_SKIP() << "no user namespaces without root here";
  const std::string build = enter + "bin/tune gemm.yaml --spec 0 --build-only 2>&1; echo code $?";
  EXPECT_TRUE(has(shell(build), "code 0\n"));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path("cache/tune/store").c_str(), 54321, 54321), 0);
  fs::permissions(path("cache/tune/store"), fs::perms(0755));
  EXPECT_TRUE(has(shell(build), "tune: error: " + path("cache/tune/store") + " belongs to another user ("))
      << "another user may have made it in /tmp";
}

TEST_F(StoreFiles, ABaseStoreIsReadAndNeverWritten) {
  EXPECT_TRUE(has(build({"--base-store", "base"}).err, "tune: error: the base store base is no folder; give one"));
  ASSERT_EQ(build({"--store", "base"}).code, 0);
  EXPECT_EQ(build({"--base-store", "base"}).code, 0);
  EXPECT_EQ(sandbox_.artifacts(), 0);
  std::ofstream(entry("base") / "kernel.so", std::ios::app) << "damage";
  const std::string damaged = platform::read_file(entry("base") / "kernel.so");
  EXPECT_EQ(build({"--base-store", "base"}).code, 0);
  EXPECT_EQ(sandbox_.artifacts(), 1) << "what has another hash is built in the own store";
  EXPECT_EQ(platform::read_file(entry("base") / "kernel.so"), damaged);
}

TEST_F(StoreFiles, WhatAKilledRunWasBuildingIsRemovedByTheNext) {
  fs::permissions(sandbox_.write("compiler",
                                 "#!/bin/sh\ncase \"$HANG $*\" in \"yes \"*kernel.so*) touch reached; sleep 1000 ;; "
                                 "esac\nexec c++ \"$@\"\n"),
                  fs::perms::owner_all);
  sandbox_.environment["CXX"] = path("compiler");
  sandbox_.environment["HANG"] = "yes";
  const auto unfinished = [&] {
    int count = 0;
    for (const auto& found : fs::directory_iterator(path("cache/tune/store")))
      count += found.path().filename().string().starts_with("tmp.") ? 1 : 0;
    return count;
  };
  Background run(sandbox_, {"gemm.yaml", "--output", "out", "--jobs", "1"});
  ASSERT_TRUE(eventually([&] { return exists("reached"); }));
  sandbox_.environment.erase("HANG");
  EXPECT_EQ(build().code, 0);
  EXPECT_EQ(unfinished(), 1) << "a living run's";
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(build({"--param", "BM:16"}).code, 0);
  EXPECT_EQ(unfinished(), 0);
}

/// With a program, which is fast.
class WrittenFiles : public Files {
 protected:
  void SetUp() override { sandbox_.write_script("{T: [2, 1], WHERE: [here]}"); }
};

TEST_F(WrittenFiles, AShapesTextDoesNotLeaveTheOutputsFolder) {
  sandbox_.write("shapes.yaml", "- {WHERE: \"/../../../X\"}\n- {WHERE: \"/.._.._.._X\"}\n- {WHERE: \"a\\nb\"}\n");
  const std::vector<std::string> before = sandbox_.files();
  const Result result =
      sandbox_.tune({"bench.yaml", "--shapes", "shapes.yaml", "--output", "a/b/c/d/best", "--tune", "--no-finals"});
  EXPECT_EQ(result.code, 0) << result.err;
  int written = 0;
  for (const std::string& name : sandbox_.files()) {
    if (std::ranges::find(before, name) != before.end() || fs::is_directory(path(name))) continue;
    if (name == "runs.txt" || name == "state/tune/last-run" || name.ends_with(".lock")) continue;
    EXPECT_TRUE(name.starts_with("a/b/c/d/best")) << name;
    if (name.starts_with("a/b/c/d/best-WHERE")) ++written;
  }
  EXPECT_EQ(written, 6) << "two files of each shape";
}

TEST_F(WrittenFiles, ATemporaryFileFollowsNoLink) {
  sandbox_.write("victim", "precious\n");
  const std::string said = shell(
      "for name in best.yaml.tmp$$ best.csv.tmp$$ best.yaml.tune-tmp best.csv.tune-tmp; do ln -s victim $name; done\n"
      "exec $TUNE bench.yaml --tune --no-finals --output best");
  EXPECT_TRUE(has(said, "top_spec_idx: 1\n"));
  EXPECT_EQ(sandbox_.read("victim"), "precious\n");
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "T: 1\n"));
}

TEST_F(WrittenFiles, AFolderOfTheUsersOwnIsNotScratch) {
  sandbox_.write("tmp/tune-scratch-mydata/results", "precious\n");
  fs::permissions(path("tmp/tune-scratch-mydata"), fs::perms(0700));
  sandbox_.environment["TMPDIR"] = path("tmp");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--output", "best"}).code, 0);
  EXPECT_EQ(sandbox_.read("tmp/tune-scratch-mydata/results"), "precious\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("tmp")), {}), 1) << "its own it removed";
}

TEST_F(WrittenFiles, AProgramsResultIsARegularFile) {
  fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\nmkfifo \"$TUNE_RESULT\"\n"), fs::perms::owner_all);
  const Result result = sandbox_.tune({"bench.yaml", "--output", "best"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "the result file is a pipe; a program writes a regular file"));
}

TEST_F(WrittenFiles, ACacheFileWithoutRoomForItsFirstEntryCanBeContinued) {
  EXPECT_TRUE(has(shell("$TUNE bench.yaml --output other --kt-cache whole.json"), "Number of valid specs: 2"));
  const auto head = sandbox_.read("whole.json").find("\"cache\": {") + 10;
  fs::resize_file(path("whole.json"), head);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string mount = "mount -t tmpfs -o size=" + std::to_string(page) + " none ";
  if (shell("unshare -rm sh -c '" + mount + "/mnt && echo yes'") != "yes\n") GTEST_SKIP() << "no user namespaces here";
  // The head fills the only page but for less than an entry needs.
  sandbox_.write("bench.yaml", "name: " + std::string(page - 100 - head + 5, 'x') +
                                   "\nfile: bench.sh\nparams: {T: [2, 1], WHERE: [here]}\n");
  fs::create_directory(path("disk"));
  const std::string said = shell("unshare -rm sh -c '" + mount +
                                 "disk; $TUNE bench.yaml --output best --kt-cache disk/kt.json; "
                                 "echo code $?; cp disk/kt.json kt.json'");
  EXPECT_TRUE(has(said, "tune: error: cannot write disk/kt.json: No space left on device; fix this, or choose"));
  EXPECT_TRUE(has(said, "code 4\n"));
  EXPECT_TRUE(has(shell("$TUNE bench.yaml --output best --kt-cache kt.json; echo code $?"), "code 0\n"));
  EXPECT_TRUE(sandbox_.read("kt.json").ends_with("}\n}\n"));
}

/// What a user sees is a sentence of ours, whatever the path.
class FileErrors : public WrittenFiles {
 protected:
  void expect_refusal(const Words& arguments, const std::string& part = "", int code = 0) const {
    const Result result = sandbox_.tune(arguments);
    EXPECT_TRUE(result.code == 2 || result.code == 4) << result.code << " " << testing::PrintToString(arguments);
    EXPECT_TRUE(code == 0 || result.code == code) << result.code << " " << testing::PrintToString(arguments);
    EXPECT_TRUE(has(result.err, "tune: error: ")) << testing::PrintToString(arguments);
    EXPECT_TRUE(has(result.err, part)) << testing::PrintToString(arguments);
    for (const char* foreign : {"unexpected", "exception", "filesystem error", "terminate"})
      EXPECT_EQ(result.err.find(foreign), std::string::npos) << result.err;
  }

  /// The command lines that take this path, as an input and as an output.
  static std::vector<Words> reading(const std::string& path) {
    return {{path},
            {"bench.yaml", "--shapes", path},
            {"bench.yaml", "--dry-run", "--device-file", path},
            {"bench.yaml", "--simulate", path},
            {"convert", path, "out.csv"},
            {"audit", "bench.yaml", "--simulate", path}};
  }
  static std::vector<Words> writing(const std::string& path) {
    return {{"bench.yaml", "--tune", "--output", path},
            {"bench.yaml", "--kt-cache", path},
            {"bench.yaml", "--t4", path},
            {"audit", "bench.yaml", "--runs", "1", "--output", path}};
  }
};

TEST_F(FileErrors, NoPathIsTooLong) {
  const std::string name(300, 'x');
  for (const Words& words : reading(name)) expect_refusal(words, "File name too long", 2);
  for (const Words& words : writing(name)) expect_refusal(words, "File name too long", 4);
}

TEST_F(FileErrors, AnEmptyPathIsNamedByItsOption) {
  for (const Words& words : reading("")) expect_refusal(words, " is given an empty path; give the name of a file\n", 2);
  for (const Words& words : writing("")) expect_refusal(words, " is given an empty path; give the name of a file\n", 2);
  for (const char* option : {"--keep", "--store", "--base-store"})
    expect_refusal({"bench.yaml", option, ""},
                   std::string(option) + " is given an empty path; give the name of a folder");
}

TEST_F(FileErrors, AFolderIsNoFile) {
  fs::create_directory(path("folder"));
  for (const char* ending : {".csv", ".jsonl", ".yaml"}) {
    const std::string name = std::string("folder") + ending;
    fs::create_directory(path(name));
    expect_refusal({"bench.yaml", "--tune", "--output", "folder"}, "folder" + std::string(ending) + " is a folder; ",
                   2);
    fs::remove(path(name));
  }
  for (const Words& words : reading("folder")) expect_refusal(words, "folder: cannot be read: it is a folder", 2);
  expect_refusal({"bench.yaml", "--kt-cache", "folder"}, "the output folder is a folder; choose another --kt-cache", 2);
  expect_refusal({"bench.yaml", "--t4", "folder"}, "the output folder is a folder; choose another --t4 FILE", 2);
  sandbox_.write("journal.jsonl", "");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--output", "journal"}).code, 0);
  expect_refusal({"convert", "journal.jsonl", "folder", "--to", "csv"}, "cannot write folder: it is a folder", 4);
}

TEST_F(FileErrors, ADeviceIsNoOutputThatCouldBeReplaced) {
  fs::create_symlink("/dev/null", path("device"));
  expect_refusal({"bench.yaml", "--kt-cache", "device"}, "the output device is a device; choose another --kt-cache", 2);
  expect_refusal({"bench.yaml", "--t4", "device"}, "the output device is a device; choose another --t4 FILE", 2);
  EXPECT_TRUE(fs::is_symlink(path("device")));
}

TEST_F(FileErrors, AnInputWithoutEndIsReadUpToABoundThatIsNamed) {
  expect_refusal({"/dev/zero"}, "/dev/zero: cannot be read: it is longer than 16 MiB, the limit for such a file", 2);
  for (const Words& words : reading("/dev/zero")) expect_refusal(words, "/dev/zero: cannot be read: it is ", 2);
  fs::resize_file(sandbox_.write("huge", ""), std::uintmax_t{5} << 30);
  for (const Words& words : reading("huge")) expect_refusal(words, "huge: cannot be read: it is longer than ", 2);
}

TEST_F(FileErrors, APipeThatIsWrittenSlowlyIsRead) {
  EXPECT_TRUE(has(shell("(sleep 0.1; echo '- {WHERE: there}') | $TUNE bench.yaml --dry-run --shapes /dev/stdin"),
                  "T=2/WHERE=there"));
}

TEST_F(FileErrors, AWorkingFolderThatIsGoneIsSaid) {
  const std::string said = shell("mkdir gone; cd gone; rmdir ../gone; $TUNE ../bench.yaml; $TUNE bench.yaml");
  EXPECT_TRUE(has(said, "tune: error: the working folder: No such file or directory; "));
  EXPECT_EQ(said.find("unexpected"), std::string::npos) << said;
  EXPECT_EQ(said.find("filesystem error"), std::string::npos) << said;
}

TEST_F(FileErrors, AnOutputThatCannotBeWrittenIsSaidOnceAllElseIsDone) {
  if (shell("unshare -rm sh -c 'mount -t tmpfs -o size=64k none /mnt && echo yes'") != "yes\n")
    GTEST_SKIP() << "no user namespaces here";
  fs::create_directory(path("disk"));
  const std::string said = shell(
      "unshare -rm sh -c 'mount -t tmpfs -o size=64k none disk && dd if=/dev/zero of=disk/big bs=4k count=16 "
      "2>/dev/null;"
      "$TUNE bench.yaml --tune --output best --t4 disk/results.json; echo code $?; ls -A disk'");
  EXPECT_TRUE(has(said, "tune: error: cannot write disk/results.json: No space left on device; "));
  EXPECT_TRUE(has(said, "code 4\nbig\n")) << "nothing half written is left";
  EXPECT_TRUE(exists("best.yaml"));
}

}  // namespace
}  // namespace tune::cli::cli_files_test

// The files for CI services in docs/ci/, and the manual's script for `git bisect`: their commands run as the services
// run them, on a program that takes the time that its source says. What only the services know (checkout, artifacts,
// the page of a run) is not tried.
#include <gtest/gtest.h>

#include <cstdlib>

#include "config/yaml/node.h"
#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_ci_test {
namespace {

namespace fs = std::filesystem;

class Ci : public testing::Test {
 protected:
  static config::Node read(const std::string& name) {
    config::Diagnostics diagnostics;
    config::Node root = config::read_yaml(fs::path(TUNE_SOURCE_DIR) / "docs/ci" / name, diagnostics);
    diagnostics.throw_if_any();
    return root;
  }

  /// A tuning file and its program, which says that it takes so many hundredths of $T milliseconds.
  void write_source(const std::string& folder, int time) const {
    const std::string program =
        "#!/bin/sh\nT=${1#--T=}\necho \"{\\\"time\\\": $((T * " + std::to_string(time) + "))e-5, \\\"ok\\\": true}\"\n";
    fs::permissions(sandbox_.write(folder + "kernels/bench.sh", program), fs::perms::owner_all);
    sandbox_.write(folder + "kernels/gemm.yaml", "name: bench\nfile: bench.sh\nparams: {$T: [1, 2]}\n");
  }

  /// The exit code of a script that /bin/sh or bash runs in the folder and ends at the first failure.
  int run(const std::string& shell, const std::string& script) const {
    sandbox_.write("script", script);
    std::string command = "cd " + sandbox_.folder().string() + " && PATH=" + TUNE_BIN_DIR +
                          ":$PATH HOME=" + sandbox_.folder().string() + " ";
    for (const auto& [name, value] : sandbox_.environment) command += name + "='" + value + "' ";
    command += variables_ + shell + " -e script >> log 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void set(const std::string& name, const std::string& value) { variables_ += name + "='" + value + "' "; }

  void set_all(const config::Node& variables) {
    for (const config::Entry& entry : variables.entries) set(entry.key.text, entry.value.text);
  }

  Sandbox sandbox_;
  std::string variables_;
};

class GitHub : public Ci {
 protected:
  /// Runs the steps: one without `if` runs only if none has failed. Returns the first failure's code.
  int run_job() {
    const config::Node root = read("github-actions.yml");
    const config::Node& job = *root.find("jobs")->find("compare");
    set_all(*job.find("env"));
    set("GITHUB_STEP_SUMMARY", "summary.md");
    int code = 0;
    for (const config::Node& step : job.find("steps")->items) {
      const config::Node* script = step.find("run");
      if (script == nullptr || (code != 0 && step.find("if") == nullptr)) continue;
      if (const int ended = run("bash", script->text); code == 0) code = ended;
    }
    return code;
  }
};

TEST_F(GitHub, AnUnchangedSourcePasses) {
  write_source("old/", 100);
  write_source("new/", 100);
  EXPECT_EQ(run_job(), 0) << sandbox_.read("log");
  EXPECT_TRUE(has(sandbox_.read("summary.md"), "### PASS: no regression"));
  EXPECT_TRUE(has(sandbox_.read("results/diff.xml"), "failures=\"0\""));
}

TEST_F(GitHub, ASlowerSourceFailsAndTheSummaryIsThere) {
  write_source("old/", 100);
  write_source("new/", 120);
  EXPECT_EQ(run_job(), 3) << sandbox_.read("log");
  EXPECT_TRUE(has(sandbox_.read("summary.md"), "| best: T=1 | 1.000 | 1.200 | 1.200 |"));
  EXPECT_TRUE(has(sandbox_.read("results/diff.json"), "\"regression\": true"));
}

TEST_F(GitHub, WhatIsUndecidedIsAWarning) {
  write_source("old/", 100);
  write_source("new/", 100);
  // Noise that leaves it open cannot be ordered, but its exit code can.
  const std::string tune = std::string(TUNE_BIN_DIR) + "/tune";
  fs::permissions(sandbox_.write("bin/tune", "#!/bin/sh\n" + tune + " \"$@\" || exit\n[ \"$1\" != diff ] || exit 5\n"),
                  fs::perms::owner_all);
  set("PATH", (sandbox_.folder() / "bin").string() + ":/usr/bin:/bin");
  EXPECT_EQ(run_job(), 0) << sandbox_.read("log");
  EXPECT_TRUE(has(sandbox_.read("log"), "::warning::whether the kernel is slower is undecided"));
}

class GitLab : public Ci {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
    write_source("", 100);
    commit("git init -q . && git add kernels && ");
    commit_of_base_ = sandbox_.read("commit");
    commit_of_base_.pop_back();
  }

  void commit(const std::string& before) const {
    ASSERT_EQ(
        run("sh",
            before + "git -c user.name=ada -c user.email=ada@example.org commit -qam x && git rev-parse HEAD > commit"),
        0)
        << sandbox_.read("log");
  }

  int run_job() {
    const config::Node root = read("gitlab-ci.yml");
    const config::Node& job = *root.find("kernel-performance");
    set_all(*job.find("variables"));
    set("CI_MERGE_REQUEST_DIFF_BASE_SHA", commit_of_base_);
    std::string script, after;
    for (const config::Node& line : job.find("script")->items) script += line.text + "\n";
    for (const config::Node& line : job.find("after_script")->items) after += line.text + "\n";
    const int code = run("sh", script);
    EXPECT_EQ(run("sh", after), 0);
    EXPECT_FALSE(fs::exists(sandbox_.folder() / "old"));
    for (const config::Node& path : job.find("artifacts")->find("paths")->items)
      EXPECT_TRUE(fs::exists(sandbox_.folder() / path.text));
    EXPECT_TRUE(fs::exists(sandbox_.folder() / job.find("artifacts")->find("reports")->find("junit")->text));
    return code;
  }

  std::string commit_of_base_;
};

TEST_F(GitLab, ASlowerSourceFails) {
  write_source("", 120);
  commit("");
  EXPECT_EQ(run_job(), 3) << sandbox_.read("log");
}

TEST_F(GitLab, AnUnchangedSourcePasses) { EXPECT_EQ(run_job(), 0) << sandbox_.read("log"); }

/// The block of a page that begins with this line, without what encloses it.
std::string block(const std::string& page, const std::string& first) {
  const std::string text = platform::read_file(std::string(TUNE_SOURCE_DIR) + "/docs/" + page);
  const auto begin = text.find("```sh\n" + first + "\n");
  if (begin == text.npos) throw std::runtime_error(page + " has no block that begins with " + first);
  return text.substr(begin + 6, text.find("```", begin + 6) - begin - 6);
}

class Bisect : public Ci {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
    sandbox_.write("judge.sh", block("comparing.md", "#!/bin/sh"));
    in_repository("git init -q -b main . && git config user.name ada && git config user.email ada@example.org");
  }
  int in_repository(const std::string& script) const {
    sandbox_.write("repository/.gitignore", "");
    return run("sh", "cd repository && " + script);
  }
  /// A commit of a program that takes so many hundredths of a millisecond; 0: it says nothing.
  void commit(int time) const {
    write_source("repository/", time);
    if (time == 0) sandbox_.write("repository/kernels/bench.sh", "#!/bin/sh\n");
    const std::string name = "commit" + std::to_string(++commits_);
    sandbox_.write("repository/number", name);
    EXPECT_EQ(in_repository("git add . && git commit -qm " + name + " && (git tag v1.0 2> /dev/null || true)"), 0)
        << sandbox_.read("log");
  }
  /// What the search ends with.
  std::string found() const {
    in_repository(block("comparing.md", "git checkout v1.0"));
    const std::string log = sandbox_.read("log");
    static const std::string kEnd = " is the first bad commit";
    const auto end = log.rfind(kEnd);
    if (end == log.npos) return log;
    const auto subject = log.find("    commit", end) + 4;
    return log.substr(subject, log.find('\n', subject) - subject);
  }

  mutable int commits_ = 0;
};

TEST_F(Bisect, TheManualsScriptFindsTheCommitThatIsSlower) {
  for (const int time : {100, 101, 100, 104, 130, 131, 129}) commit(time);
  EXPECT_EQ(found(), "commit5");
}

TEST_F(Bisect, ACommitWithoutAResultIsSkipped) {
  for (const int time : {100, 100, 0, 130, 130, 130}) commit(time);
  EXPECT_TRUE(has(found(), "There are only 'skip'ped commits left to test")) << "commit3 or commit4";
}

}  // namespace
}  // namespace tune::cli::cli_ci_test

#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

/// Runs on devices that are fake_worker's.
class Devices : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("gemm.cpp", "");
    bin_ = sandbox_.copy_binaries_with_fake_worker();
    id_ = sandbox_.folder().filename().string();
    sandbox_.environment["FAKE_LOG"] = (sandbox_.folder() / "log.txt").string();
  }

  void have_devices(const std::string& first = "fake", const std::string& second = "fake") {
    sandbox_.environment["FAKE_DEVICES"] = first + ":" + id_ + "a," + second + ":" + id_ + "b";
  }

  /// A grid of these behaviours, each `times` times.
  void write(const std::string& behaviours, int times = 1, const std::string& more = "") const {
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\n"
                   "params: {BEHAVIOUR: [" +
                       behaviours + "], $N: {range: [1, " + std::to_string(times) +
                       "]}}, launch: {args: [A, B, C, m, n, k]}" + more + "}\n");
  }

  static std::vector<std::string> command(const std::string& output, std::vector<std::string> more) {
    more.insert(more.begin(), {"--yaml", "gemm.yaml", "--timeout-run", "5", "--output", output});
    return more;
  }
  Result tune(const std::vector<std::string>& more) const { return sandbox_.tune_from(bin_, command("out", more)); }

  std::map<std::int64_t, std::string> outcomes(const std::string& output = "out") const {
    std::map<std::int64_t, std::string> outcomes;
    for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl"))
      outcomes[record.trial.spec.mesh_idx] = outcome_text(record.trial);
    return outcomes;
  }

  /// Lines of fake_worker's log that end like this.
  std::vector<std::string> noted(const std::string& what) const {
    std::istringstream log(std::filesystem::exists(sandbox_.folder() / "log.txt") ? sandbox_.read("log.txt") : "");
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);)
      if (line.ends_with(what)) lines.push_back(line);
    return lines;
  }

  Sandbox sandbox_;
  std::filesystem::path bin_;
  std::string id_;
};

/// A GPU, where processes open the device while others are checked.
class Batches : public Devices {
 protected:
  void SetUp() override {
    Devices::SetUp();
    std::filesystem::rename(bin_ / "tune-worker-cpu", bin_ / "tune-worker-cuda");
    sandbox_.environment["FAKE_DEVICES"] = "fake:" + id_ + "a";
  }
  void write(const std::string& behaviours, int times = 1, const std::string& more = "") const {
    Devices::write(behaviours, times, more);
    const std::string yaml = sandbox_.read("gemm.yaml");
    sandbox_.write("gemm.yaml", std::regex_replace(yaml, std::regex("gemm.cpp([^]*)launch: \\{"),
                                                   "gemm.cu$1launch: {grid: [1], block: [1], "));
    sandbox_.write("gemm.cu", "BEHAVIOUR");
  }
};

}  // namespace tune::cli

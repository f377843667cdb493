#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend.h"
#include "checking/layout.h"

namespace tune {

inline wire::Arg buffer_arg(const std::string& name) {
  wire::Arg arg;
  arg.buffer = name;
  return arg;
}

inline wire::Arg scalar_arg(std::int64_t value, Argument::Scalar type = Argument::Scalar::i32) {
  wire::Arg arg;
  arg.kind = Argument::Kind::scalar;
  arg.type = type;
  arg.integer = value;
  return arg;
}

/// A folder for each test, and the CPU backend as a worker uses it: a new one for each request.
class CpuFixture : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tune-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
    rules_.min_launches = 2;
    rules_.max_seconds = 0.01;
    rules_.warmup = 1;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string kernel_file(const std::string& name) { return TUNE_SOURCE_DIR "/tests/kernels/" + name; }

  /// Builds into a new folder and returns the artifact's path.
  std::string build(wire::BuildRequest request) {
    const std::filesystem::path output = folder_ / ("build" + std::to_string(builds_++));
    std::filesystem::create_directory(output);
    request.output = output;
    built_ = worker::make_backend()->build(request);
    return output / built_.artifact;
  }
  /// The same, but only the first time for these defines.
  std::string built_once(const wire::BuildRequest& request) {
    std::string key = request.source;
    for (const auto& [name, value] : request.defines) key += " " + name + "=" + value;
    std::string& artifact = artifacts_[key];
    if (artifact.empty()) artifact = build(request);
    return artifact;
  }

  /// What becomes of the launch of a kernel that is built so: `right`, or the first line of why not.
  std::string outcome_of(wire::BuildRequest build_request, wire::KernelLaunch launch) {
    build_request.launches = {launch};
    wire::MeasureRequest request;
    request.artifact = built_once(build_request);
    request.problem = build_request.problem;
    request.what = wire::KernelRun{{std::move(launch)}};
    std::filesystem::remove(folder_ / "reference");
    try {
      return measure(request).checked ? "right" : "not checked";
    } catch (const worker::SpecFailure& failure) {
      return first_line(failure.what());
    }
  }

  /// Makes the reference, then loads and measures.
  wire::Measured measure(wire::MeasureRequest request) {
    if (request.reference.empty()) {
      request.reference = folder_ / "reference";
      wire::ReferenceRequest reference;
      reference.problem = request.problem;
      reference.seed = request.seed;
      reference.output = request.reference;
      worker::make_backend()->reference(reference);
    }
    request.measure = rules_;
    const auto backend = worker::make_backend();
    backend->load(request);
    return *backend->measure({}, [this](const wire::Event& event) { checked_ = std::get<wire::Checked>(event); });
  }

  /// The text of the SpecFailure that `action` ends in, which must be of this stage.
  template <typename Action>
  static std::string refusal(Stage stage, Action action) {
    try {
      action();
    } catch (const worker::SpecFailure& refused) {
      EXPECT_EQ(to_text(refused.stage()), to_text(stage)) << refused.what();
      return refused.what();
    }
    return "accepted";
  }
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::filesystem::path folder_;
  MeasureRules rules_;
  wire::Built built_;
  wire::Checked checked_;
  int builds_ = 0;
  std::map<std::string, std::string> artifacts_;  ///< of built_once()
};

/// For kernels with mistakes: five launches are timed, and no more.
class MistakesFixture : public CpuFixture {
 protected:
  void SetUp() override {
    CpuFixture::SetUp();
    rules_.cold_cache = false;
    rules_.min_launches = 5;
    rules_.max_seconds = 0;
  }
};

}  // namespace tune

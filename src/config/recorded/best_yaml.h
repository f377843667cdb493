#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/reader/load.h"
#include "config/reader/recorded_result.h"
#include "model/space.h"
#include "model/statistics/stats.h"
#include "model/statistics/verdict.h"

namespace tune::config {

/// A spec that none beats in one of several objectives without losing in another, and its figures.
struct FrontPoint {
  Spec spec;
  std::vector<std::pair<std::string, double>> objectives;
};

/// What a best.yaml tells about the winner in addition to its parameters.
struct BestResult {
  Spec winner;
  Estimate time;
  std::int64_t launches = 0;
  bool checked = false;
  bool tie = false;                                     ///< the finals could not tell another spec from it
  std::vector<std::pair<std::string, double>> figures;  ///< gflops, metrics; written in this order
  std::vector<std::pair<std::string, double>> ratios;   ///< baseline's time over the winner's, by label
  std::vector<FrontPoint> front;                        ///< of several objectives; best by the first one first
  std::string artifact_hash;                            ///< empty if nothing was built
  std::filesystem::path store_path;                     ///< of the artifact in the build store; empty: likewise
  std::string code = {};                                ///< BuildInfo::code: hash of the artifact and its launch
  bool finals_interrupted = false;
  std::optional<Verdict> verdict;
  std::string statistic = {};  ///< by which the sweep's times were chosen; empty: their median
  std::string command;         ///< of a command: the winner's line; else empty
  Device device;
  std::string compiler;             ///< name and version; empty: not known
  std::string vendor_library = {};  ///< file of the vendor's GEMM library; empty: not known
  std::string source_hash = {};     ///< of the source and its headers; empty: there is none
};

/// Writes the winner as a tuning file of one spec, with `result:` and `device:` in addition. Everything that affects
/// the build, the launch and the measurement is carried over; what chooses between specs (constraints, default,
/// baseline) is not. Paths are relative to `folder`, the folder of the file to be written. The same winner always gives
/// the same text except for the measured numbers, which have six significant digits.
std::string write_best(const Source& source, const Plan& plan, const BestResult& result,
                       const std::filesystem::path& folder);

/// What a best.yaml holds of a run: its spec and how long that took. The source need not be there, and nothing of the
/// file is evaluated.
struct RecordedBest {
  std::string kernel;   ///< the tuning file's name
  std::string problem;  ///< see problem_size_text
  Spec spec;
  RecordedResult result;
};

/// Throws Error(bad_input) with every problem of the file if it is no best.yaml: a tuning file without `result:
/// time_ms:`, or with several specs.
RecordedBest read_best(const std::filesystem::path& path);

}  // namespace tune::config

#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/reader/filter.h"
#include "model/plan.h"
#include "report/build_table.h"
#include "report/summary.h"
#include "results/tuning_outcome.h"

namespace tune::results {

/// Which files a user asks for beside those of --output.
struct OutputSettings {
  std::optional<std::filesystem::path> kt_cache, t4;
  std::string best_ending = ".yaml";
  bool kbench = false;                                  ///< PREFIX.txt and PREFIX.failures.json
  std::optional<std::filesystem::path> tuning_results;  ///< --tuning_results_file
};

/// Which files of --output a tuning writes, and what their names follow from.
struct OutputRules {
  std::optional<std::filesystem::path> prefix = {};
  bool journal = true;
  bool best = false;                              ///< PREFIX.yaml
  std::vector<std::filesystem::path> yamls = {};  ///< name the journal if there is no prefix
  std::vector<std::string> command = {};          ///< that is tuned instead of a tuning file; likewise
  std::string suffix = {};                        ///< tells the shapes of --shapes apart
  std::string part = {};                          ///< tells the parts of --partition apart, whose shapes others tune
  bool journal_of_all = false;                    ///< all shapes have one journal
};

/// The files a run writes: PREFIX.csv, PREFIX.jsonl, PREFIX.yaml; without --output only a journal in the state folder,
/// and none where that is not known.
struct Outputs {
  std::filesystem::path csv, journal, best;  ///< csv and best are empty without --output
  std::filesystem::path kt_cache, t4;        ///< of --kt-cache and --t4
  std::filesystem::path artifact;            ///< of --artifact, see artifact_file
  std::filesystem::path logs;                ///< a folder for logs of failed builds, beside the journal
  std::filesystem::path text, failures;      ///< of --kbench-files
  std::filesystem::path tuning_results;      ///< one for all shapes
  std::filesystem::path database;            ///< likewise: the best of each

  Outputs(const OutputSettings& settings, const OutputRules& rules);
  /// Throws Error(bad_input) if one of the files is also an input of the run, two of them are the same, or one of
  /// them exists and is not a file.
  void must_not_be(const std::vector<std::filesystem::path>& inputs) const;
};

/// Where --artifact puts what was built for the best spec of a plan: FOLDER/gemm-sm_90a.cubin, FOLDER/gemm.so, ...; of
/// a program FOLDER/gemm. `suffix` follows the plan's name.
std::filesystem::path artifact_file(const std::filesystem::path& folder, const Plan& plan, const std::string& suffix,
                                    const Device& device);

/// Writes a row for every spec tried, and, if the grid has at most 10^5 points, for every one that the filters keep and
/// that was pruned before the build. Throws Error(environment).
void write_csv(const std::filesystem::path& path, const Space& space, const TuningOutcome& outcome,
               const report::Summary& summary);
/// The same for --build-only. `name` is the tuning file's.
void write_csv(const std::filesystem::path& path, const Space& space, std::span<const config::Filter> filters,
               const std::string& name, std::span<const report::BuildRow> rows);

/// Writes what the compiler printed for the first spec of each cause of failed builds as FOLDER/mesh_idx.txt, unless
/// there is no folder, or `keep` has it: the folder of --keep, with a log of every spec that failed in this run.
/// Returns the files; one that cannot be written is left out.
report::Logs write_logs(const std::filesystem::path& folder, const std::filesystem::path& keep,
                        std::span<const Trial> trials);

}  // namespace tune::results

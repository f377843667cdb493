#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/recorded/best_yaml.h"
#include "model/statistics/objective.h"
#include "model/statistics/ranking.h"
#include "model/values/error.h"
#include "report/summary.h"
#include "results/outputs.h"
#include "results/tuning_outcome.h"
#include "results/verdict/verdict.h"

namespace tune::results {

/// How the results of a run are shown, and what is written beside them.
struct ResultsRules : report::Look {
  std::string compiler = {};  ///< name and version, for the best YAML, as are the next two
  std::string vendor_library = {};
  std::string source_hash = {};
  Demands demands = {};
  bool judged = false;                 ///< the text begins with a verdict
  std::filesystem::path journal = {};  ///< empty: tune show does not find this run in one
};

/// Ranks what a run found and presents it: the table, the CSV file, the best YAML.
class Results {
 public:
  /// What it refers to must outlive this.
  Results(ResultsRules rules, const config::Loaded& loaded, const Objective& objective, const TuningOutcome& outcome);

  const report::Summary& summary() const { return summary_; }
  /// The specs of the table, best first.
  const std::vector<Ranked>& rows() const { return summary_.ranking.rows; }
  /// Whether there is a valid spec that may win.
  bool any() const { return !rows().empty() && outcome_->finals.has_winner(); }
  /// Whether some spec computed a wrong result.
  bool any_wrong() const;
  /// Seconds and mesh_idx of the best, as the table has it. Precondition: any().
  std::pair<double, std::int64_t> winner() const;
  /// Of a run that is judged.
  const std::optional<Verdict>& verdict() const { return verdict_; }
  /// What the run comes to for a script.
  ExitCode code() const;
  std::string text() const;
  /// What the best YAML says of the best. Precondition: any().
  config::BestResult best(const Device& device) const;
  /// Throws Error(environment).
  void write_files(const Outputs& outputs, const Device& device) const;

 private:
  report::Summary unjudged() const;
  Measurement shown(const Ranked& row) const;
  std::vector<std::pair<std::string, double>> values(const Ranked& row) const;
  std::vector<std::pair<std::string, double>> figures(const Ranked& row) const;
  Ranking ranking() const;
  std::map<std::int64_t, std::string> unranked() const;
  void mark_front(Ranking& ranking) const;
  std::vector<config::FrontPoint> front() const;
  std::vector<report::Column> columns() const;
  std::string best_command(const Ranking& ranking) const;
  bool is_objective(const std::string& name) const;

  ResultsRules rules_;
  const config::Loaded* loaded_;
  const Objective* objective_;
  const TuningOutcome* outcome_;
  std::optional<Verdict> verdict_;
  std::vector<Objective> objectives_;  ///< all of them, if they are several
  report::Summary summary_;
};

}  // namespace tune::results

#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "certainty.h"
#include "config/best_yaml.h"
#include "model/objective.h"
#include "model/ranking.h"
#include "outputs.h"
#include "report/summary.h"

namespace tune {

/// What a run found, before it is put in order.
struct Findings {
  std::vector<Trial> trials;
  std::optional<Spec> default_spec;  ///< today's configuration
  std::optional<Finals> finals;
  std::vector<Walk::Pruned> pruned;
  std::vector<std::string> notes;
  double elapsed_seconds = 0;
  double finals_seconds = 0;  ///< of the finals, if this run held them
};

/// The words that, with `--spec N` after them, run one spec again: what selects the grid, not what chooses from it.
std::vector<std::string> reproducing_command(const Options& options);

/// Puts findings in order and says them: the table, the CSV file, the best YAML.
class Conclusion {
 public:
  /// All arguments must outlive this.
  Conclusion(const Options& options, const Loaded& loaded, const Objective& objective, const Findings& findings);

  /// The specs of the table, best first.
  const std::vector<Ranked>& rows() const { return summary_.ranking.rows; }
  /// Whether there is a valid spec.
  bool any() const { return !rows().empty(); }
  /// Whether the result of some spec is wrong.
  bool any_wrong() const;
  /// Seconds and mesh_idx of the best, as the table has it. Precondition: any().
  std::pair<double, std::int64_t> winner() const;
  /// Why the best is not as sure as this share of its time; nullopt if it is, or if there is none.
  std::optional<std::string> too_uncertain(double limit) const;
  std::string text() const;
  /// Throws Error(environment).
  void write_files(const Outputs& outputs, const Device& device) const;

 private:
  Measurement decided(const Trial& trial) const;
  Ranking ranking() const;
  void note_earlier_failures();
  void note_idle_parameters();
  void warn();
  std::map<std::int64_t, std::string> unranked() const;
  void mark_front(Ranking& ranking) const;
  std::vector<FrontPoint> front() const;
  std::vector<report::Column> columns() const;
  BestResult best(const Device& device) const;

  const Options* options_;
  const Loaded* loaded_;
  const Objective* objective_;
  const Findings* findings_;
  std::optional<Certainty> certainty_;  ///< of a tuning that found something
  std::vector<Objective> objectives_;   ///< all of them, if they are several
  report::Summary summary_;
};

}  // namespace tune

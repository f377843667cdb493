#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/space.h"

namespace tune::commands {

/// One of the tunings that an audit repeats.
struct AuditRun {
  int number = 1;
  std::uint64_t seed = 0;
  std::optional<Spec> winner;      ///< unset: no spec was valid
  double seconds = 0;              ///< the winner's time as this run knew it
  std::optional<double> relative;  ///< the winner's true cost to that of the best: 1 at the best; unset: not known
  std::optional<bool> replayed;    ///< the same command again started nothing and chose the same; unset: not tried
  std::optional<bool> simulated;   ///< --simulate of the journal chose the same; unset: not tried
};

/// What is tuned: one problem, or one recording.
struct AuditedShape {
  std::string name;
  std::vector<AuditRun> runs;
};

/// How many of those that were tried did as they should.
struct AuditCount {
  int good = 0, tried = 0;
};

/// What the runs of one shape, or of all, come to.
struct AuditFigures {
  int runs = 0;
  int without_winner = 0;
  int winners = 0;  ///< distinct ones
  /// Runs whose winner's true time is more than 1 % off that of the most frequent winner (of several the one that came
  /// first), or that have none though others have.
  int changed = 0;
  int shapes_changed = 0;
  int known = 0;  ///< runs whose regret is known
  double mean_regret = 0, worst_regret = 0;
  AuditCount replayed, simulated;

  double changed_share() const { return runs > 0 ? static_cast<double>(changed) / runs : 0; }
};

/// `BM=128/BN=64`: all settings of a spec, by which two specs are the same.
std::string identity(const Spec& spec);

AuditFigures figures_of(const AuditedShape& shape);
AuditFigures figures_of(const std::vector<AuditedShape>& shapes);

/// A row per shape, and what all come to. Figures that no shape has are left out.
std::string audit_text(const std::vector<AuditedShape>& shapes);
/// A row per run: shape, run, seed, the winner's mesh_idx, parameters and time, its regret, replay, simulate.
std::string audit_csv(const std::vector<AuditedShape>& shapes);

}  // namespace tune::commands

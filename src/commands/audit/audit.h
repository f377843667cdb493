#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/tune/options.h"
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

/// `tune audit`: repeats a tuning, real or on recordings, and prints how far its answers can be trusted: how often the
/// winner changed, its regret, whether a journal gives the same answer again. Writes PREFIX.csv. check_failed: a limit
/// that was asked for is not met; none_valid: no run found a valid spec.
struct AuditOptions {
  TuneOptions tuning;                             ///< that is repeated
  std::vector<std::filesystem::path> recordings;  ///< --simulate; empty: real tunings
  int runs = 10;
  std::optional<double> noise;                  ///< 0.01: 1 %; unset: what the recording's intervals tell
  bool exhaustive = false;                      ///< the truth is a run that times every spec in full
  bool keep_journals = false;                   ///< --continue
  std::optional<double> max_flips, max_regret;  ///< limits to what is found, as shares
};

/// The simulated tunings of one recording, each with noise of its own. Throws Error(bad_input).
AuditedShape audit_recording(const AuditOptions& audit, const std::filesystem::path& recording,
                             const std::string& name);

/// Repeats the tuning, shape by shape: audit.runs times with a journal of its own and another seed each, then again
/// from each journal, then one run in which all winners meet in the finals, which tells their regret. A shape is added
/// to `done` when it is through. Throws Error, Interrupted.
void audit_tunings(const AuditOptions& audit, std::vector<AuditedShape>& done);

/// `BM=128/BN=64`: all settings of a spec, by which two specs are the same.
std::string identity(const Spec& spec);

AuditFigures figures_of(const AuditedShape& shape);
AuditFigures figures_of(const std::vector<AuditedShape>& shapes);

/// A row per shape, and what all come to. Figures that no shape has are left out.
std::string audit_text(const std::vector<AuditedShape>& shapes);
/// A row per run: shape, run, seed, the winner's mesh_idx, parameters and time, its regret, replay, simulate.
std::string audit_csv(const std::vector<AuditedShape>& shapes);

}  // namespace tune::commands

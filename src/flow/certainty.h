#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/statistics/ranking.h"

namespace tune::flow {

/// How certain it is which spec is the best, and what keeps it from being more certain.
class Certainty {
 public:
  /// Judges the first row. `finals` is null if there were none. Precondition: there is a row.
  Certainty(const Ranking& ranking, const Finals* finals, bool finals_interrupted = false);

  /// By what share of its time the winner, or the choice of it, may be wrong; nullopt if that is not known: after a
  /// single run without finals.
  std::optional<double> uncertainty() const;
  /// What a user must know before the result is used: one sentence each, with what to do about it. Usually there is
  /// none.
  std::vector<std::string> warnings() const;
  /// Why the winner is less certain than that; nullopt if it is certain enough.
  std::optional<std::string> too_uncertain(double limit) const;

 private:
  std::string open_text() const;
  std::string cause() const;
  std::string short_runs_text() const;

  std::optional<double> width_;     ///< half the interval of the winner's time, over it
  std::vector<std::int64_t> open_;  ///< those that the finals could not tell from the best
  double gap_ = 0;                  ///< how far they may be from it
  bool gap_known_ = true;
  int rounds_ = 0;
  double throttle_ = 0;
  double short_seconds_ = 0;  ///< of a command whose start takes much of that, unless it is the fastest beyond doubt
  const Finals* finals_;
  bool interrupted_;
};

}  // namespace tune::flow

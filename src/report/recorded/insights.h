#pragma once
#include <string>

#include "report/recorded/effects.h"
#include "report/summary.h"

namespace tune::report {

// What a finished run tells beyond its table; on a terminal no line is longer than that is wide. Precondition of all:
// there is a ranked spec.

/// What merits are called and how they are shown: times in ms, other figures as they are.
struct MeritUnit {
  std::string title = "met (ms)";
  double factor = 1e3;
  bool maximize = false;
};

/// How much of the variance each parameter explains; and for each of its values how many specs have it, their best and
/// median merit, and how often it is among the best 5 %.
std::string effects_text(const Effects& effects, const MeritUnit& unit, int width);

/// A bar for each row of the table, as long as its merit is large.
std::string chart_text(const Summary& summary, const MeritUnit& unit);

/// Which spec would have won without the finals, in the other power state, or without one of the winner's values.
std::string changes_text(const Summary& summary, const MeritUnit& unit);

}  // namespace tune::report

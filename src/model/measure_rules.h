#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "model/device.h"

namespace tune {

/// How a spec is timed: `measure:`.
struct MeasureRules {
  /// Where energy is measured, which takes a second: never, of finalists, of every spec.
  enum class Energy { never, finals, always };
  static constexpr std::array<std::string_view, 3> kEnergies = {"never", "finals", "always"};
  int warmup = 2;        ///< launches that are not timed
  int min_launches = 7;  ///< that are timed at least, of specs that are timed in full
  double max_seconds = 1;
  double cutoff = 1.5;  ///< times the best so far; 0: every spec is timed in full
  bool cold_cache = true;
  Energy energy = Energy::never;
  PowerState state = PowerState::burst;
  bool strict = false;            ///< of a CPU kernel: the ends of its buffers are protected
  std::int64_t memory_bytes = 0;  ///< that the process of a kernel or program may have; 0: as much as is reasonable
  bool operator==(const MeasureRules&) const = default;
};

/// A rule as the tuning file, the messages to workers and the identities of trials have it. A new one is a member
/// above, a row of kMeasureRules, and what the workers do.
struct MeasureRule {
  using Member = std::variant<int MeasureRules::*, std::int64_t MeasureRules::*, double MeasureRules::*,
                              bool MeasureRules::*, MeasureRules::Energy MeasureRules::*, PowerState MeasureRules::*>;
  /// Whether what was measured by another value counts: journals are older than some rules, which are in identities
  /// only where they are not as usual.
  enum class Identity { always, unless_usual, never };
  enum class Range { at_least, at_least_or_zero, above };

  std::string_view name;
  Member member;
  bool is_key;  ///< of `measure:`; else the command line or the objective sets it
  Identity identity;
  double least = 0;  ///< of a number
  Range range = Range::at_least;
};

inline constexpr MeasureRule kMeasureRules[] = {
    {"warmup", &MeasureRules::warmup, true, MeasureRule::Identity::always},
    {"min_launches", &MeasureRules::min_launches, true, MeasureRule::Identity::always, 1},
    {"max_seconds", &MeasureRules::max_seconds, true, MeasureRule::Identity::always, 0, MeasureRule::Range::above},
    // It does not change the time of a spec that is timed in full.
    {"cutoff", &MeasureRules::cutoff, true, MeasureRule::Identity::never, 1, MeasureRule::Range::at_least_or_zero},
    {"cold_cache", &MeasureRules::cold_cache, true, MeasureRule::Identity::always},
    {"state", &MeasureRules::state, true, MeasureRule::Identity::always},
    {"energy", &MeasureRules::energy, false, MeasureRule::Identity::always},
    {"strict", &MeasureRules::strict, false, MeasureRule::Identity::unless_usual},
    {"memory_bytes", &MeasureRules::memory_bytes, false, MeasureRule::Identity::unless_usual},
};

}  // namespace tune

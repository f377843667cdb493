#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "model/trial.h"
#include "model/values/random.h"

namespace tune {

/// Which of the specs that shared processes measured are measured again in a process of their own: a random one of the
/// first 20, then of every 50 one. The choice depends on the seed alone.
class SpotChecks {
 public:
  explicit SpotChecks(std::uint64_t seed) : random_(seed) { begin(20); }
  /// Whether the next one is.
  bool next();

 private:
  void begin(std::uint64_t size);

  Random random_;
  std::uint64_t size_ = 0, place_ = 0, chosen_ = 0;  ///< of the present stretch of specs
};

/// Why what a shared process measured of a spec is not to be trusted, by what became of the spec in a process of its
/// own: it failed there, or `took 1.9 ms in a process that others had used and 1.2 ms in one of its own`. The two
/// medians are then further apart than their intervals and 5 % explain (15 % of launches below 0.2 ms, 50 % where one
/// was stopped early). nullopt: they agree, as they do where both were stopped early: slow kernels may take twice as
/// long from one launch to the next.
std::optional<std::string> disagreement(const Timing& shared, const std::variant<Measurement, Failure>& own);

}  // namespace tune

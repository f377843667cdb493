#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "model/trial.h"
#include "model/values/random.h"

namespace tune::exec {

/// Chooses the specs that are measured again in a process of their own after a shared process has measured them: a
/// random one of the first 20, and then one of every 50. The choice depends on the seed alone.
class SpotChecks {
 public:
  explicit SpotChecks(std::uint64_t seed) : random_(seed) { begin(20); }
  /// Whether the next spec is chosen.
  bool next();

 private:
  void begin(std::uint64_t size);

  Random random_;
  std::uint64_t size_ = 0, place_ = 0, chosen_ = 0;  ///< of the present stretch of specs
};

/// Why the result of a shared process cannot be trusted, given the outcome of the same spec in a process of its own:
/// there it failed, or it `took 1.9 ms in a process that others had used and 1.2 ms in one of its own`. The second
/// means that the medians are further apart than their intervals and 5 % explain (15 % for launches below 0.2 ms, 50 %
/// if one was stopped early). nullopt if they agree. Two that were stopped early always do, because slow kernels may
/// take twice as long from one launch to the next.
std::optional<std::string> disagreement(const Timing& shared, const std::variant<Measurement, Failure>& own);

}  // namespace tune::exec

#include "exec/process/spot_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace tune::exec {
namespace {

constexpr std::uint64_t kStretch = 50;
constexpr double kSlack = 0.05;
constexpr double kShort = 200e-6;  // seconds; from process to process, shorter launches differ by up to 10 % (H200)
constexpr double kSlackOfShortLaunches = 0.15;
constexpr double kSlackOfFewLaunches = 0.5;

// The interval of a program, or of a single launch, is not known.
double low(const Timing& timing) { return timing.ci_low > 0 ? std::min(timing.ci_low, timing.median) : timing.median; }
double high(const Timing& timing) { return std::max(timing.ci_high, timing.median); }

double allowance(const Timing& shared, const Timing& own) {
  if (shared.stopped_early || own.stopped_early) return kSlackOfFewLaunches;
  return std::min(shared.median, own.median) < kShort ? kSlackOfShortLaunches : kSlack;
}

}  // namespace

void SpotChecks::begin(std::uint64_t size) {
  size_ = size;
  place_ = 0;
  chosen_ = random_.below(size);
}

bool SpotChecks::next() {
  if (place_ == size_) begin(kStretch);
  return place_++ == chosen_;
}

std::optional<std::string> disagreement(const Timing& shared, const std::variant<Measurement, Failure>& outcome) {
  if (const auto* failure = std::get_if<Failure>(&outcome))
    return "could be measured in a process that others had used, but fails in one of its own: " + failure->headline();
  const Timing& own = std::get<Measurement>(outcome).timing;
  if (shared.stopped_early && own.stopped_early) return std::nullopt;
  const double slack = 1 + allowance(shared, own);
  if (low(shared) <= high(own) * slack && low(own) <= high(shared) * slack) return std::nullopt;
  return fmt::format("took {:.6g} ms in a process that others had used and {:.6g} ms in one of its own",
                     shared.median * 1e3, own.median * 1e3);
}

}  // namespace tune::exec

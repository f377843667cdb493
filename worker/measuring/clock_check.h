#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measuring/core_use.h"

namespace tune::worker {

/// One launch: the seconds that the kernel's process says it took, those that passed on the judge's clock from its
/// command to the answer, with what the process's threads computed from then until all of them were stopped, and those
/// of them in which either had to wait for a core.
struct TimedLaunch {
  double claimed = 0, seen = 0, waited = 0;
  CoreUse use{};
};

/// `the kernel's process reports 0.2 ms for launches that took 9.8 ms until nothing of it ran: ...`, if the judge's
/// clock contradicts the claims.
///
/// What is judged are the launches that decide the median, the faster half by their claims, and of those the quarter
/// with the least difference between both clocks: what disturbs an honest process does so now and then, and one that
/// claims too little to be ranked higher claims it of most. The difference may be `allowance`, and 0.5 % of the
/// claim, which is how precisely times are known. In every launch, waiting for a core excuses at most `excusable`
/// seconds: a kernel can have its process wait for a core that another thread of it computes on.
std::optional<std::string> clock_contradiction(std::vector<TimedLaunch> launches, double allowance, double excusable);

}  // namespace tune::worker

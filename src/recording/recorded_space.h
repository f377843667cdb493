#pragma once
#include <vector>

#include "model/space.h"
#include "recording/recording.h"

namespace tune::recording {

/// The space of a recording: its parameters and their values. Precondition: every trial has all of them.
Space space_of(const Recording& recording);
/// The grid of a run that has told it, without its constraints.
Space space_of(const wire::ResultsRecord& results);
/// Where the trials stand in `space`, which has at least the recording's values: in the recording's order.
std::vector<Space::Point> points_of(const Recording& recording, const Space& space);

/// Every name that a measurement of the recording has a figure under.
std::vector<std::string> figures_of(const Recording& recording);

}  // namespace tune::recording

#pragma once
#include <string>

#include "results/verdict/standing.h"

namespace tune::results {

/// What to do next where the verdict is undecided, such as the options of a command that decides; empty: nothing helps.
std::string advice(const Standing& standing);

}  // namespace tune::results

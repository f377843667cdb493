#pragma once
#include <string>
#include <vector>

#include "commands/tune/tune.h"
#include "model/space.h"
#include "model/values/error.h"

namespace tune::commands {

/// What became of a result.
struct Retimed {
  std::string sizes, verdict, ratio, interval;
  std::string changed;  ///< since then
  std::string remark;   ///< what else is to be said
};

/// A table, at most 80 columns wide if the names of the sizes are not very long. `timed`: it has ratios.
std::string text_of(const std::vector<Retimed>& rows, bool timed);

/// Says in `row` what a tuning found out about the spec that had won. `artifact_then`: the hash of the binary that was
/// timed then, if it is launched as it was. check_failed: the result is slower beyond noise, wrong or lost; undecided:
/// that is open.
ExitCode judge(const Tuned& tuned, const Spec& spec, const std::string& artifact_then, Retimed& row);

}  // namespace tune::commands

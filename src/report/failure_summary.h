#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/grid_scan.h"
#include "model/space.h"
#include "model/trial.h"

namespace tune::report {

/// A line about specs that did not make it.
struct LossLine {
  enum class Kind { heading, reason, detail, copied };  ///< copied: a command or a path, which stays in one piece
  Kind kind = Kind::heading;
  std::string text;     ///< with its indentation
  bool failed = false;  ///< it is of specs that failed; else of pruned or unranked ones
};
using LossLines = std::vector<LossLine>;

/// One after the other.
std::string text_of(const LossLines& lines);

/// The reasons that pruned points before the build, one line each with their counts; empty if there are none.
LossLines pruned_lines(std::span<const GridScan::Pruned> pruned);

/// Names of files by mesh_idx: where a failed spec's whole log is.
using Logs = std::map<std::int64_t, std::string>;

/// Every spec of `trials` that was pruned after the build or failed, grouped by cause, most frequent first; each group
/// with the reason, the detail and the log of its first spec, values that all of its specs have and not all others, and
/// the command that runs the first one again. Empty if there are none.
LossLines loss_lines(std::span<const Trial> trials, std::span<const std::string> command, const Logs& logs = {});
/// Whether specs of these were lost for the same cause, so that loss_lines does not name all of them.
bool any_lost_alike(std::span<const Trial> trials);
/// The first spec of each of these groups of failures.
std::vector<const Trial*> first_failures(std::span<const Trial> trials);

/// The measured specs without a value of the objective, by mesh_idx with the reason, grouped in the same way.
LossLines unranked_lines(const std::map<std::int64_t, std::string>& unranked, std::span<const std::string> command);

}  // namespace tune::report

#pragma once
#include <string>

#include "report/summary.h"

namespace tune::results {

// The files that kbench writes beside its CSV file, for the scripts that read them there.

/// NAME.failures.json: how many specs were tried, and what each failed one said. Specs that prune_after_build excludes
/// are not counted.
std::string kbench_failures(const report::Summary& summary);
/// NAME.txt: the times of the builds, what failed, and the table, in mesh order.
std::string kbench_text(const report::Summary& summary);

}  // namespace tune::results

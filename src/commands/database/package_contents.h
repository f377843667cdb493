#pragma once
#include <string>

#include "commands/database/package_candidates.h"
#include "package/package.h"

namespace tune::commands {

/// What is in a package of this name: a variant for each binary and choice of parameters, an entry for each size, the
/// group's rule for other sizes if it `serves_other_sizes`, and what the package's test tries. Refused candidates are
/// left out.
package::Package package_of(const std::string& folder, const database::Database& database,
                            const database::ResultGroup& group, const TunedPlan& plan,
                            const PackageCandidates& candidates, bool serves_other_sizes);

}  // namespace tune::commands

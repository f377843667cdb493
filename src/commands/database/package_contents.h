#pragma once
#include <string>

#include "commands/common_options.h"
#include "commands/database/tuned_plan.h"
#include "exec/device/measure_service.h"
#include "package/package.h"

namespace tune::commands {

/// A result or a rule's choice, on its way into a package.
struct PackageCandidate {
  database::Sizes sizes;
  std::vector<Setting> params;
  std::string artifact, code;                     ///< as they were timed; empty: not known
  const database::TunedResult* result = nullptr;  ///< null: of a rule
  std::unique_ptr<config::Loaded> loaded = {};
  std::unique_ptr<exec::RequestFactory> requests = {};
  Spec spec = {};
  std::string refusal = {};
  bool changed = false;  ///< it is refused because what is built or launched now is not what was timed
  std::filesystem::path built = {};
  std::filesystem::path reference_built = {};  ///< of a custom problem, as is the next
  std::string reference_artifact = {};
};

/// All that may go into a package, and whether what is built now is what was timed.
class PackageCandidates {
 public:
  /// The results of a group and, with `rule`, what the leaves of its rule's tree choose beside them. All arguments must
  /// outlive this.
  PackageCandidates(const database::Database& database, const database::ResultGroup& group, bool rule,
                    const TunedPlan& plan, exec::Workers& workers);

  /// Builds at once all that the store does not have, and refuses what is not as it was timed.
  void build(const StoreOptions& store);

  const std::vector<PackageCandidate>& all() const { return candidates_; }
  /// The candidate with these parameters that is not refused; null: there is none.
  const PackageCandidate* find(const std::vector<Setting>& params) const;

 private:
  void add_choices(const database::SizeRule& rule, const wire::Hello& hello);
  void add(PackageCandidate candidate, const wire::Hello& hello);
  void compare(PackageCandidate& candidate, const exec::Builder::Result& result) const;

  const database::ResultGroup* group_;
  const TunedPlan* plan_;
  exec::Workers* workers_;
  std::vector<PackageCandidate> candidates_;
  std::unique_ptr<exec::MeasureService> service_;  ///< keeps what was built
};

/// Whether its problem is a custom one, which has a reference of its own.
bool is_custom(const PackageCandidate& candidate);

/// What is in a package of this name: a variant for each binary and choice of parameters, an entry for each size, the
/// group's rule for other sizes if it `serves_other_sizes`, and what the package's test tries. Refused candidates are
/// left out.
package::Package package_of(const std::string& folder, const database::Database& database,
                            const database::ResultGroup& group, const TunedPlan& plan,
                            const PackageCandidates& candidates, bool serves_other_sizes);

}  // namespace tune::commands

#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exec/evaluate/finals_run.h"
#include "exec/request/request_factory.h"
#include "platform/store/store.h"
#include "results/notices.h"

namespace tune::tuning {

/// What the result that the command line names is called among the contenders of the finals.
std::string label_of_named(const Plan& plan, const std::filesystem::path& named);

/// Whether this is the best.yaml of a build, which can be timed again.
bool names_artifact(const std::filesystem::path& named);

/// Throws Error(environment) if this is the best.yaml of a build that is in the build store no more: only with that can
/// it be timed as it was built then.
void require_stored(const std::filesystem::path& named, const platform::StorePlaces& store);

/// The winners of earlier results, as they were built then: of the plan's baselines that are a best.yaml, and of
/// `named`, that of the command line. A source that has changed since then changes nothing about them. A result is left
/// out, which a note explains, if its artifact is not in the store any more, or if it is of another device, problem or
/// backend. Throws Error(bad_input) if `named` is a YAML file without a result.
std::vector<wire::Contender> stored_baselines(const exec::RequestFactory& requests, const platform::StorePlaces& store,
                                              const std::optional<std::filesystem::path>& named,
                                              results::Notices& notes);

}  // namespace tune::tuning

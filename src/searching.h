#pragma once
#include <memory>
#include <span>
#include <vector>

#include "config/filter.h"
#include "model/objective.h"
#include "model/valid_specs.h"
#include "options.h"
#include "search/strategy.h"
#include "survey.h"

namespace tune {

/// Whether the options ask for a search rather than for every spec: by name, or by a budget that is (or, for `size`
/// unknown, may be) too small for all.
bool wants_search(const Options& options, std::optional<std::int64_t> size);

/// The strategy of --strategy (or `auto`) over `specs`, after those of `first`, for what `objective` is after, which
/// must outlive it.
std::unique_ptr<Strategy> make_strategy(const Options& options, ValidSpecs specs, std::vector<Spec> first,
                                        const Objective& objective);

/// What a run tries: the spec of --spec, what a search asks for, or all in mesh order. `survey` is there unless --spec
/// is; it and `objective` must outlive the strategy. Throws Error(bad_input).
std::unique_ptr<Strategy> strategy_for(const Options& options, const Plan& plan, const std::optional<Survey>& survey,
                                       const Objective& objective);

}  // namespace tune

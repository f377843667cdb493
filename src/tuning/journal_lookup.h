#pragma once
#include <optional>
#include <span>
#include <string>

#include "exec/process/deadlines.h"
#include "exec/request/request_factory.h"
#include "model/statistics/objective.h"
#include "recording/journal.h"
#include "results/notices.h"
#include "results/tuning_outcome.h"

namespace tune::tuning {

/// Which recorded outcomes are also valid for a run.
struct LookupRules {
  bool failures_again = false;   ///< specs that failed are tried again
  bool share_processes = false;  ///< times from shared processes are valid
  bool accept_early = false;     ///< times that were stopped early are valid, if this run would stop them too
  exec::Deadlines deadlines;
};

/// A spec during which this many runs crashed is not tried again; a single crash may have had any cause.
inline constexpr int kMostCrashes = 2;

/// Whether the facts of a recorded failure say that it need not happen in this run: either the machine is suspected and
/// it happened only once, or the spec was given less time than specs are given now. A failure without facts does not
/// lapse.
bool has_lapsed(const Failure& failure, bool repeated, const exec::Deadlines& deadlines);

/// The failure that is recorded for a spec whose outcome never came, because the runs crashed.
Failure run_ended_while_it_ran();

/// Notes how many recorded times are from another device than the run's first, which has this id. The identity of a
/// trial does not distinguish cards of one model.
void note_other_device(std::span<const Trial> trials, const std::string& id, results::Notices& notes);

/// Notes how much of what was found is from the journal, and when it was measured. The note ends with the advice.
void note_recorded(const results::TuningOutcome& outcome, const recording::Journal& journal,
                   const exec::RequestFactory& requests, std::string_view advice, results::Notices& notes);

/// What the journal knows of a spec, if it is also valid for a run with these rules. For a spec during which earlier
/// runs crashed, records that failure and returns it. nullopt if the spec must be tried.
std::optional<Trial> recall(const Spec& spec, recording::Journal& journal, const exec::RequestFactory& requests,
                            const Objective& objective, const LookupRules& rules);

}  // namespace tune::tuning

#pragma once
#include <optional>
#include <span>
#include <string>

#include "exec/requests.h"
#include "journal.h"
#include "model/objective.h"
#include "options.h"

namespace tune {

/// After so many runs ended while it ran, a spec is not tried again; a single end may have had any cause.
inline constexpr int kMostEnds = 2;

/// Whether a recorded failure tells nothing of this run, by its facts: the machine is suspected and it happened only
/// once, or the spec was given less time than specs are given now. A failure without facts does not lapse.
bool has_lapsed(const Failure& failure, bool repeated, double timeout_build, double timeout_run);

/// What the journal knows of a spec, where that holds for a run with these options too; nullopt: it is to be tried. A
/// failure does not hold if it is to be seen again or has lapsed, a time that was cut short not if this run cuts none,
/// one of a shared process not if each spec of this run has its own, and what prune_after_build says is judged anew.
std::optional<Trial> recall(const Spec& spec, const Journal& journal, const Requests& requests,
                            const Objective& objective, const Options& options);

/// What an outcome that never came is recorded as.
Failure run_ended_while_it_ran();

/// That failure of a spec that ran when two earlier runs ended, see Journal::ends_of; nullopt: it is to be tried.
std::optional<Trial> recall_ends(const Spec& spec, const Journal& journal, const Requests& requests,
                                 const Options& options);

/// What is to be said where recorded times are another device's than that of this id, the run's first; empty if none
/// is. Cards of one model are one device to a trial's identity.
std::string note_on_other_device(std::span<const Trial> trials, const std::string& id);

}  // namespace tune

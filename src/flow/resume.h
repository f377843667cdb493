#pragma once
#include <optional>
#include <span>
#include <string>

#include "exec/replay_runner.h"
#include "exec/requests.h"
#include "flow/notes.h"
#include "journal.h"
#include "model/statistics/objective.h"

namespace tune::flow {

/// Which of the recorded outcomes hold for a run too.
struct ResumeRules {
  bool failures_again = false;   ///< what failed is tried again
  bool share_processes = false;  ///< times of shared processes hold
  bool cut_slow = false;         ///< times that were cut short hold, where this run would cut them too
  double timeout_build = 0;      ///< seconds
  double timeout_run = 0;
};

/// After so many runs ended while it ran, a spec is not tried again; a single end may have had any cause.
inline constexpr int kMostEnds = 2;

/// Whether a recorded failure tells nothing of this run, by its facts: the machine is suspected and it happened only
/// once, or the spec was given less time than specs are given now. A failure without facts does not lapse.
bool has_lapsed(const Failure& failure, bool repeated, double timeout_build, double timeout_run);

/// What the journal knows of a spec, where that holds for a run with these rules too; nullopt: it is to be tried. A
/// failure does not hold if it is to be seen again or has lapsed, a time that was cut short not if this run cuts none,
/// one of a shared process not if each spec of this run has its own, and what prune_after_build says is judged anew.
std::optional<Trial> recall(const Spec& spec, const Journal& journal, const exec::Requests& requests,
                            const Objective& objective, const ResumeRules& rules);

/// What an outcome that never came is recorded as.
Failure run_ended_while_it_ran();

/// That failure of a spec that ran when two earlier runs ended, see Journal::ends_of; nullopt: it is to be tried.
std::optional<Trial> recall_ends(const Spec& spec, const Journal& journal, const exec::Requests& requests,
                                 const ResumeRules& rules);

/// Notes how many recorded times are another device's than that of this id, the run's first. Cards of one model are one
/// device to a trial's identity.
void note_other_device(std::span<const Trial> trials, const std::string& id, Notes& notes);

/// Answers specs with what the journal knows.
class Resume {
 public:
  /// All of it must outlive this.
  Resume(Journal& journal, const exec::Requests& requests, const Objective& objective, ResumeRules rules)
      : journal_(&journal), requests_(&requests), objective_(&objective), rules_(rules) {}

  /// What the journal says of a spec, and of one that ended earlier runs, which is recorded; nullopt: it is to be
  /// tried.
  std::optional<Trial> answer(const Spec& spec);
  /// In which order a search was told what the journal knows, if at most so many specs were out.
  exec::RecordedOrder order(std::int64_t most_out) const;
  /// Whether specs are measured again, whatever the journal says of them.
  void set_repeating(bool repeating) { repeating_ = repeating; }

 private:
  Journal* journal_;
  const exec::Requests* requests_;
  const Objective* objective_;
  ResumeRules rules_;
  bool repeating_ = false;
};

}  // namespace tune::flow

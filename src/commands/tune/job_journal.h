#pragma once
#include <memory>

#include "commands/tune/target.h"
#include "exec/request/request_factory.h"
#include "recording/journal.h"
#include "results/notices.h"
#include "results/results.h"
#include "tuning/journal_lookup.h"

// The journal of a tuning: how the tuning begins in it, what it answers, and what is kept there in the end.

namespace tune::commands {

/// Throws Error(environment) if there is no place for one.
void require_journal(const results::Outputs& outputs);
/// Begins the run in the journal, which the job or `own` holds open.
recording::Journal& begin_journal(const Target& target, const exec::RequestFactory& requests, bool fresh,
                                  std::unique_ptr<recording::Journal>& own, results::Notices& notes);
/// Which of its records count. A disagreement that it remembers forbids sharing processes.
tuning::LookupRules trusted_lookup(const SharedOptions& options, const Job& job, const recording::Journal& journal,
                                   results::Notices& notes);
/// Keeps the results. A full disk costs what was measured now no more: it is printed, and the files say why they cannot
/// be written. Where the machine could not be asked, the journal knows of no run.
void remember(const results::Results& results, const Target& target, const exec::RequestFactory& requests,
              const results::TuningOutcome& outcome, recording::Journal& journal);

}  // namespace tune::commands

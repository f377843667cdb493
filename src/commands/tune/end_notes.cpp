#include "commands/tune/end_notes.h"

#include <algorithm>

#include "commands/tune/settings.h"
#include "results/rerun_comparison.h"
#include "tuning/tuning.h"

namespace tune::commands {
namespace {

void note_repetition(const TuneOptions& options, const Target& target, const results::ResultsRules& shown,
                     const Device& device, results::Findings& findings) {
  const results::Results results(shown, target.loaded, target.objective, findings);
  if (!results.any()) return;
  results::note_repetition(name_of_input(options), *target.loaded.result, results.best(device), target.plan(),
                           findings.notes);
}

void note_stale_best(const Target& target, const results::ResultsRules& shown, results::Findings& findings) {
  std::error_code ignored;
  const std::filesystem::path& best = target.outputs.best;
  if (best.empty() || !std::filesystem::exists(best, ignored)) return;
  if (!results::Results(shown, target.loaded, target.objective, findings).any())
    findings.notes.best_is_of_an_earlier_run(best);
}

}  // namespace

void note_at_the_end(const TuneOptions& options, const Target& target, const results::ResultsRules& shown,
                     const exec::RequestFactory& requests, const exec::ChosenDevice& device,
                     const std::optional<EarlierResult>& earlier, const recording::Journal& journal,
                     results::Findings& findings) {
  const Device& tuned_for = requests.hello().device;
  tuning::note_recorded(findings, journal, requests, findings.notes);
  if (target.workers.others() == nullptr) tuning::note_other_device(findings.trials, device.id, findings.notes);
  if (repeats_result(options, target))
    note_repetition(options, target, shown, tuned_for, findings);
  else
    results::note_device_of_file(name_of_input(options), target.loaded.source, tuned_for, findings.notes);
  if (earlier && findings.no_winner.empty()) findings.comparison = earlier->compare(target.plan(), tuned_for, findings);
  note_stale_best(target, shown, findings);
  if (!target.job.prefix) findings.notes.journal_is_at(journal.path());
  if (journal.lost()) findings.notes.journal_is_lost(journal.path());
  const auto earlier_failures = std::ranges::count_if(
      findings.trials, [](const Trial& trial) { return trial.recorded && trial.failure() != nullptr; });
  if (earlier_failures > 0) findings.notes.failures_are_of_an_earlier_run(earlier_failures);
  tuning::note_trials(target.plan(), options.tune, findings);
}

}  // namespace tune::commands

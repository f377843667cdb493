#include "commands/tune/end_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/tune/rules.h"
#include "model/values/escaped_text.h"
#include "results/comparison/repeated_result.h"
#include "tuning/journal_lookup.h"
#include "tuning/tuning.h"

namespace tune::commands {
namespace {

void note_repetition(const Target& target, const results::ResultsRules& shown, const Device& device,
                     results::TuningOutcome& outcome) {
  const results::Results results(shown, target.loaded, target.objective, outcome);
  if (results.any())
    results::note_repeated_result(name_of_input(target.options), *target.loaded.result, results.best(device),
                                  target.plan().measure.state, outcome.notes);
}

void note_stale_files(const Target& target, const results::ResultsRules& shown, results::TuningOutcome& outcome) {
  const auto note = [&](const std::filesystem::path& file, const char* why) {
    if (std::error_code ignored; file.empty() || !std::filesystem::exists(file, ignored)) return;
    outcome.notes.add(line_with_escapes(file.string()) + " is of an earlier run: this one " + why +
                      ", and left it as it was");
  };
  if (outcome.ended_early)
    for (const auto& file : {target.outputs.csv, target.outputs.best}) note(file, "ended early");
  else if (!results::Results(shown, target.loaded, target.objective, outcome).any())
    note(target.outputs.best, "has no valid spec");
}

}  // namespace

void note_at_the_end(const Target& target, const std::optional<tuning::Grid>& grid, const results::ResultsRules& shown,
                     const exec::RequestFactory& requests, const exec::ChosenDevice& device,
                     const std::optional<ComparedBaseline>& baseline, const recording::Journal& journal,
                     results::TuningOutcome& outcome) {
  const Device& tuned_for = requests.hello().device;
  // A run with --fresh measures nothing twice itself, also if it is interrupted and continued.
  const char* advice = target.options.demands.fresh ? ", as part of this --fresh run"
                       : target.job.silent          ? ""
                                                    : "; --fresh measures again";
  tuning::note_recorded(outcome, journal, requests, advice, outcome.notes);
  if (target.workers.others() == nullptr) tuning::note_other_device(outcome.trials, device.id, outcome.notes);
  if (repeats_result(target))
    note_repetition(target, shown, tuned_for, outcome);
  else
    results::note_device_of_file(name_of_input(target.options), target.loaded.source, tuned_for, outcome.notes);
  if (baseline && outcome.finals.has_winner()) outcome.comparison = baseline->compare(tuned_for, outcome);
  note_stale_files(target, shown, outcome);
  if (!target.job.silent)
    outcome.logs = results::write_logs(target.outputs.logs, target.options.measure.keep, outcome.trials);
  const std::string path = line_with_escapes(journal.path().string());
  if (!target.job.prefix) outcome.notes.add("journal: " + path);
  if (journal.is_gone())
    outcome.notes.add(path +
                      ": this journal was removed, replaced or cut while the run wrote to it, so that another run "
                      "measures again what is missing");
  const auto earlier_failures = std::ranges::count_if(
      outcome.trials, [](const Trial& trial) { return trial.recorded && trial.failure() != nullptr; });
  if (earlier_failures > 0)
    outcome.notes.add(
        fmt::format("failures from an earlier run: {}; --retry-failed tries them again", earlier_failures));
  if (target.options.tune) tuning::note_trials(target.plan(), outcome);
  const tuning::SearchSettings& search = target.job.search;
  if (target.job.only.empty() && grid && tuning::wants_search(search, grid->specs.size()))
    tuning::note_model(tuning::model_for(search, target.plan(), tuned_for), outcome);
}

}  // namespace tune::commands

#include "commands/tune/end_notes.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "commands/tune/settings.h"
#include "model/values/escaped_text.h"
#include "tuning/tuning.h"

namespace tune::commands {
namespace {

std::string text_of(const Estimate& time) {
  const std::string text = fmt::format("{:.6g} ms", time.seconds * 1e3);
  const auto width = relative_width(time);
  return width ? fmt::format("{} +-{:.2g} %", text, *width * 100) : text;
}

std::string verdict(const std::optional<Interval>& before, const std::optional<Interval>& now) {
  if (!before || !now)
    return fmt::format("whether that is more than noise is not known, because the {} was timed once",
                       before ? "spec" : "spec of the file");
  const bool overlap = before->low <= now->high && now->low <= before->high;
  return overlap ? "the difference is within the noise of both" : "the difference is beyond the noise of both";
}

std::string differences(const config::RecordedResult& before, const config::BestResult& now, const Plan& plan) {
  std::vector<std::string> texts;
  const auto compare = [&](const char* what, const std::string& then, const std::string& today) {
    if (!then.empty() && !today.empty() && then != today)
      texts.push_back(fmt::format("{} {} instead of {}", what, line_with_escapes(then), line_with_escapes(today)));
  };
  compare("device", before.device, now.device.name);
  compare("architecture", before.arch, now.device.arch);
  compare("driver", before.driver, now.device.driver);
  compare("compiler", before.compiler, now.compiler);
  compare("power state", std::string(to_text(before.state)), std::string(to_text(plan.measure.state)));
  if (!before.artifact_hash.empty() && before.artifact_hash != now.artifact_hash)
    texts.emplace_back("the code that was built then is not that of now");
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Notes how the time of a spec compares with the result that its best.yaml holds, and what else is not as it was then.
/// Times differ by more than noise if their 95 % intervals do not overlap.
void note_repetition(const TuneOptions& options, const Target& target, const results::ResultsRules& shown,
                     const Device& device, results::TuningOutcome& outcome) {
  const results::Results results(shown, target.loaded, target.objective, outcome);
  if (!results.any()) return;
  const config::RecordedResult& before = *target.loaded.result;
  const config::BestResult now = results.best(device);
  const std::string file = name_of_input(options);
  outcome.notes.result_is_repeated(file, text_of(before.time), text_of(now.time),
                                   now.time.seconds / before.time.seconds,
                                   verdict(before.time.interval, now.time.interval));
  if (const std::string others = differences(before, now, target.plan()); !others.empty())
    outcome.notes.result_is_of_other_conditions(file, others);
}

/// Notes that the `device:` of a tuning file, such as a best.yaml whose size the command line changes, is not the one
/// that it runs on now.
void note_device_of_file(const std::string& file, const config::Source& source, const Device& now,
                         results::Notices& notes) {
  const config::Node* device = source.root.find("device");
  const config::Node* name = device != nullptr ? device->find("name") : nullptr;
  if (name == nullptr || !name->is_scalar() || name->text == now.name) return;
  notes.result_is_of_other_conditions(
      file, fmt::format("device {} instead of {}", line_with_escapes(name->text), line_with_escapes(now.name)));
}

void note_stale_best(const Target& target, const results::ResultsRules& shown, results::TuningOutcome& outcome) {
  std::error_code ignored;
  const std::filesystem::path& best = target.outputs.best;
  if (best.empty() || !std::filesystem::exists(best, ignored)) return;
  if (!results::Results(shown, target.loaded, target.objective, outcome).any())
    outcome.notes.best_is_of_an_earlier_run(best);
}

}  // namespace

void note_at_the_end(const TuneOptions& options, const Target& target, const std::optional<tuning::Grid>& grid,
                     const results::ResultsRules& shown, const exec::RequestFactory& requests,
                     const exec::ChosenDevice& device, const std::optional<EarlierResult>& earlier,
                     const recording::Journal& journal, results::TuningOutcome& outcome) {
  const Device& tuned_for = requests.hello().device;
  tuning::note_recorded(outcome, journal, requests, outcome.notes);
  if (target.workers.others() == nullptr) tuning::note_other_device(outcome.trials, device.id, outcome.notes);
  if (repeats_result(options, target))
    note_repetition(options, target, shown, tuned_for, outcome);
  else
    note_device_of_file(name_of_input(options), target.loaded.source, tuned_for, outcome.notes);
  if (earlier && outcome.no_winner.empty()) outcome.comparison = earlier->compare(target.plan(), tuned_for, outcome);
  note_stale_best(target, shown, outcome);
  if (!target.job.silent) outcome.logs = results::write_logs(log_rules(options, target.outputs), outcome.trials);
  if (!target.job.prefix) outcome.notes.journal_is_at(journal.path());
  if (journal.lost()) outcome.notes.journal_is_lost(journal.path());
  const auto earlier_failures = std::ranges::count_if(
      outcome.trials, [](const Trial& trial) { return trial.recorded && trial.failure() != nullptr; });
  if (earlier_failures > 0) outcome.notes.failures_are_of_an_earlier_run(earlier_failures);
  tuning::note_trials(target.plan(), options.tune, outcome);
  const tuning::SearchRules& search = target.job.search;
  if (target.job.only.empty() && grid && tuning::wants_search(search, grid->specs.size()))
    tuning::note_model(tuning::model_for(search, target.plan(), tuned_for), outcome);
}

}  // namespace tune::commands

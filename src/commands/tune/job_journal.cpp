#include "commands/tune/job_journal.h"

#include <fmt/format.h>
#include <unistd.h>

#include "commands/tune/rules.h"
#include "model/peak.h"
#include "model/problem_size.h"
#include "platform/files/user_folders.h"
#include "recording/earlier_runs.h"
#include "results/results_record.h"

namespace tune::commands {
namespace {

void note_journal(const recording::Journal& journal, results::Notices& notes) {
  const std::string path = journal.path().string();
  if (!journal.locked()) notes.add(path + ": cannot be locked on its file system; let no other run use it");
  notes.add(journal.damaged().texts(path));
  if (const auto foreign = journal.foreign())
    notes.add(fmt::format(
        "{}: {} trials are of another version of tune (protocol {}, not {}); they are kept, and measured again", path,
        foreign->trials, foreign->protocol, wire::kProtocol));
}

void note_machine(const tuning::Machine& machine, const exec::RequestFactory& requests, results::Notices& notes) {
  notes.add(requests.hello().remarks);
  if (!requests.remark().empty()) notes.add(requests.remark());
  if (const std::string& why = machine.probe_failure(); !why.empty())
    notes.add("the description of the device is from the journal, because " + why);
}

wire::RunRecord run_record(const Target& target, const wire::Hello& machine, bool fresh) {
  const Plan& plan = target.plan();
  return {wire::kProtocol,
          plan.name,
          target.options.typed,
          platform::host_name(),
          ::getpid(),
          machine,
          problem_size_text(plan.problem, plan.constants),
          platform::timestamp(),
          fresh,
          target.job.shape() ? config::to_text(*target.job.shape()) : "",
          parameter_names(plan.space),
          flops_of(plan.problem),
          bytes_of(plan.problem),
          peak_flops(machine.device, plan.problem)};
}

/// A grid of more values takes more room than what was found in it.
bool is_huge(const wire::ResultsRecord& results) {
  constexpr std::size_t kMostValues = 1'000'000;
  std::size_t values = 0;
  for (const std::vector<Parameter>& mapping : results.mappings)
    for (const Parameter& parameter : mapping) values += parameter.values.size();
  return values > kMostValues;
}

}  // namespace

void require_journal(const results::Outputs& outputs) {
  if (!outputs.journal.empty()) return;
  throw Error(ExitCode::environment,
              "there is no folder for the journal: HOME is not set and this user has no home; give --output PREFIX, "
              "or set XDG_STATE_HOME");
}

recording::Journal& begin_journal(const Target& target, const exec::RequestFactory& requests, bool fresh,
                                  std::unique_ptr<recording::Journal>& own, results::Notices& notes) {
  std::unique_ptr<recording::Journal>& kept = target.job.journal != nullptr ? *target.job.journal : own;
  if (kept == nullptr) kept = std::make_unique<recording::Journal>(target.outputs.journal);
  if (target.job.anew) kept->clear();
  note_journal(*kept, notes);
  note_machine(target.machine, requests, notes);
  if (target.machine.probe_failure().empty()) kept->append(run_record(target, requests.hello(), fresh));
  if (fresh) kept->forget_older();
  if (!target.job.silent) recording::note_last_run(kept->path());
  return *kept;
}

tuning::LookupRules trusted_lookup(const SharedOptions& options, const Job& job, const recording::Journal& journal,
                                   results::Notices& notes) {
  tuning::LookupRules rules;
  // Whoever asks for one spec, or for what failed specs leave, wants to see it fail, and wants a time in full.
  rules.failures_again = job.retry_failed || job.search.spec || !options.measure.keep.empty();
  rules.share_processes = options.measure.share_processes && journal.distrust().empty();
  rules.accept_early = options.tune && !job.search.spec;
  rules.deadlines = options.measure.deadlines;
  if (options.measure.share_processes && !rules.share_processes)
    notes.add(
        fmt::format("every spec had a process of its own, because in an earlier run {}; --fresh shares processes again",
                    journal.distrust()));
  return rules;
}

void remember(const results::Results& results, const Target& target, const exec::RequestFactory& requests,
              const results::TuningOutcome& outcome, recording::Journal& journal) try {
  if (!target.machine.probe_failure().empty()) return;
  const wire::ResultsRecord record =
      results::record_of(results, target.loaded, target.objective, outcome, target.options.partition.has_value(),
                         [&](const Spec& spec) { return requests.trial_id(spec); });
  if (!is_huge(record)) journal.append(record);
} catch (const Error&) {
}

}  // namespace tune::commands

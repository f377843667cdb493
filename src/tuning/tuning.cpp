#include "tuning/tuning.h"

#include <algorithm>
#include <csignal>

#include "exec/device/measure_service.h"
#include "model/statistics/same_code.h"
#include "platform/files/streams.h"

namespace tune::tuning {
namespace {

void note_end(const Tuning& tuning) {
  if (tuning.journal != nullptr) tuning.journal->note_end();
}

// A kernel may be the cause of SIGTERM and SIGHUP, and of a process that nothing can kill: such an end is left without
// a record, as a kill is.
void try_specs(const Tuning& tuning) try {
  tuning.tuner.sweep(tuning.strategy);
  // After a systematic failure specs are still out, and there is nothing to decide.
  if (tuning.tuner.systematic_failure().empty()) tuning.decide();
  note_end(tuning);
} catch (const exec::Interrupted& interrupted) {
  if (interrupted.signal == SIGINT) note_end(tuning);
  throw;
} catch (const exec::DeviceLost&) {
  throw;
} catch (...) {
  note_end(tuning);
  throw;
}

// Whether an error came before the first spec, so that there are no results to print. To be called where it is caught.
bool refused_to_begin(const Tuning& tuning) try { throw; } catch (const Error&) {
  return tuning.tuner.trials().empty();
} catch (...) {
  return false;
}

// What only all trials together tell.
void note_trials(const Tuning& tuning, results::Findings& findings) {
  const auto earlier = std::ranges::count_if(
      findings.trials, [](const Trial& trial) { return trial.recorded && trial.failure() != nullptr; });
  if (tuning.journal != nullptr && earlier > 0) findings.notes.failures_are_of_an_earlier_run(earlier);
  // Without --tune every spec is listed with what it took itself.
  if (!tuning.results.tuned) return;
  const auto reports_time = [](const Trial& trial) {
    return trial.measurement() && !is_of_whole_command(*trial.measurement());
  };
  const Plan& plan = tuning.loaded.plan;
  if (plan.backend == Backend::program && !plan.build.whole && std::ranges::any_of(findings.trials, reports_time))
    findings.notes.command_reports_its_time();
  for (const std::string& name : idle_parameters(findings.trials)) findings.notes.parameter_has_no_effect(name);
}

results::Results print_results(const Tuning& tuning, results::Findings& findings, const results::ResultsRules& rules) {
  findings.trials = std::move(tuning.tuner.trials());
  findings.elapsed_seconds = std::chrono::duration<double>(tuning.now() - tuning.started).count();
  tuning.last_note();
  note_trials(tuning, findings);
  if (!tuning.silent) findings.logs = results::write_logs(tuning.logs, findings.trials);
  results::Results results(rules, tuning.loaded, tuning.objective, findings);
  if (rules.tuned && results.any())
    tuning.progress.set_best(results.rows().front().trial->spec, results.winner().first);
  tuning.progress.finish(tuning.now());
  if (!tuning.silent) {
    platform::print_escaped(results.text());
    platform::flush_results();
  }
  if (tuning.remember) tuning.remember(results);
  return results;
}

}  // namespace

results::Results sweep_and_print(const Tuning& tuning, results::Findings& findings) {
  try {
    try_specs(tuning);
  } catch (...) {
    if (tuning.journal == nullptr || refused_to_begin(tuning)) throw;
    // Whatever ended the run, its results so far are printed; the files of an earlier, complete run stay as they are,
    // unless this run knows as much.
    results::ResultsRules rules = tuning.results;
    if (!findings.finals_interrupted) {
      findings.ended_early = true;
      findings.notes.ended_early();
      rules.csv.clear();
    }
    const results::Results results = print_results(tuning, findings, rules);
    if (findings.finals_interrupted) tuning.write(results);
    throw;
  }
  if (const std::string& failure = tuning.tuner.systematic_failure(); !failure.empty())
    findings.notes.all_failed_alike(failure);
  return print_results(tuning, findings, tuning.results);
}

void write_files(const results::Results& results, const results::Outputs& outputs, const Device& device,
                 Exporter& exporter) {
  outputs.make_folders();
  try {
    results.write_files(outputs, device);
  } catch (const Error& error) {
    try {
      exporter.finish();
    } catch (const Error& another) {
      throw Error(error.code(), std::string(error.what()) + "\n" + another.what());
    }
    throw;
  }
  exporter.finish();
}

ExitCode write_results(const results::Results& results, const results::Outputs& outputs, const Device& device,
                       Exporter& exporter) {
  write_files(results, outputs, device, exporter);
  return results.code();
}

}  // namespace tune::tuning

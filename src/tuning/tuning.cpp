#include "tuning/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "exec/device/measure_device.h"
#include "model/statistics/same_code.h"
#include "model/statistics/stats.h"
#include "platform/files/streams.h"

namespace tune::tuning {
namespace {

void print(const results::Results& results) {
  platform::print_escaped(results.text());
  platform::flush_results();
}

void write_files(const results::Results& results, std::span<const Trial> trials, const TuningParts& parts) {
  try {
    results.write_files(parts.outputs, parts.device);
  } catch (const Error& error) {
    try {
      parts.exporter.finish(trials);
    } catch (const Error& another) {
      throw Error(error.code(), std::string(error.what()) + "\n" + another.what());
    }
    throw;
  }
  parts.exporter.finish(trials);
}

void add_outcome(const JobEnd& end, Tuner& tuner, double seconds, results::TuningOutcome& outcome) {
  outcome.trials = std::move(tuner.trials());
  outcome.elapsed_seconds = seconds;
  outcome.ended_early = !end.complete() && !outcome.finals.interrupted;
  if (outcome.ended_early)
    outcome.notes.add(
        "this run ended early and wrote no CSV or YAML (those that exist are of an earlier run); the same command "
        "continues it");
  if (const std::string& failure = tuner.systematic_failure(); end.complete() && !failure.empty())
    outcome.notes.add(failure + "\n(--keep-going tries the others anyway)");
}

}  // namespace

bool JobEnd::by_error() const try {
  rethrow();
  return false;
} catch (const Error&) {
  return true;
} catch (...) {
  return false;
}

void JobEnd::rethrow() const {
  if (stopped) std::rethrow_exception(stopped);
}

// A kernel may be the cause of SIGTERM and SIGHUP, and of a process that nothing can kill: such an end is left without
// a record, as a kill is.
JobEnd run_job(recording::Journal* journal, const std::function<void()>& work) {
  JobEnd end;
  if (journal == nullptr) {
    work();
    return end;
  }
  try {
    work();
  } catch (const exec::Interrupted& interrupted) {
    if (interrupted.signal != SIGINT) return {std::current_exception()};
    end.stopped = std::current_exception();
  } catch (const exec::DeviceLost&) {
    return {std::current_exception()};
  } catch (...) {
    end.stopped = std::current_exception();
  }
  journal->note_end();
  return end;
}

void note_trials(const Plan& plan, results::TuningOutcome& outcome) {
  const auto reports_time = [](const Trial& trial) {
    return trial.measurement() && !is_of_whole_command(*trial.measurement());
  };
  if (plan.is_program() && !plan.program.whole && std::ranges::any_of(outcome.trials, reports_time))
    outcome.notes.add(
        "the times are those that the command reports itself; --whole (whole: true) times the command instead");
  for (const std::string& name : idle_parameters(outcome.trials))
    outcome.notes.add(
        fmt::format("{} does not change the code: specs that differ only in it share one measurement", name));
}

void note_model(const std::optional<CostModel>& model, results::TuningOutcome& outcome) {
  constexpr std::size_t kEnough = 8;
  constexpr double kFits = 0.3;
  std::vector<double> predicted, measured;
  for (const Trial& trial : outcome.trials) {
    const Measurement* measurement = trial.measurement();
    const auto prediction = model && measurement != nullptr ? model->predict(trial.spec) : std::nullopt;
    if (!prediction) continue;
    predicted.push_back(prediction->seconds);
    measured.push_back(measurement->timing.median);
  }
  if (predicted.size() < kEnough || !(std::ranges::min(predicted) < std::ranges::max(predicted))) return;
  const double correlation = rank_correlation(predicted, measured);
  outcome.notes.add(
      correlation >= kFits
          ? fmt::format("model: the predicted times of {} specs order them as the measured ones do, with a rank "
                        "correlation of {:.2f}",
                        predicted.size(), correlation)
          : fmt::format(
                "model: the predicted times of {} specs do not fit the measured ones (rank correlation {:.2f}); "
                "--dry-run --top 8 shows what is predicted, and a section 'model:' in the tuning file corrects "
                "it",
                predicted.size(), correlation));
}

results::Results run_tuning(const TuningParts& parts, const TuningSteps& steps, results::ResultsRules rules,
                            results::TuningOutcome& outcome) {
  Tuner& tuner = parts.tuner;

  // Try, and decide.
  const JobEnd end = run_job(parts.journal, [&] {
    tuner.sweep(parts.strategy);
    if (tuner.systematic_failure().empty()) steps.decide();  // else specs are still out, and there is nothing to decide
  });
  if (end.by_error() && tuner.trials().empty()) end.rethrow();  // it has not begun, so there is nothing to print

  // Say what was found, however it ended.
  add_outcome(end, tuner, std::chrono::duration<double>(tuner.now() - parts.began).count(), outcome);
  if (outcome.ended_early) rules.all_in.clear();  // the files of an earlier, complete run stay as they are
  steps.note(rules);
  results::Results results(std::move(rules), parts.loaded, parts.objective, outcome);
  if (results.summary().tuned && results.any()) {
    const Ranked& best = results.rows().front();
    parts.progress.set_best(best.trial->spec, results.winner().first, figure_text(parts.objective, best.objective));
  }
  parts.progress.finish(tuner.now());
  if (!parts.silent) print(results);
  if (steps.keep) steps.keep(results);

  // Write it.
  if (end.complete() && parts.journal != nullptr) parts.journal->flush(true);
  if (!outcome.ended_early) write_files(results, outcome.trials, parts);
  end.rethrow();
  return results;
}

}  // namespace tune::tuning

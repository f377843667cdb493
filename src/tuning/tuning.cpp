#include "tuning/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "exec/device/measure_device.h"
#include "model/settings.h"
#include "model/statistics/same_code.h"
#include "model/statistics/stats.h"
#include "platform/files/streams.h"

namespace tune::tuning {

// A kernel may be the cause of SIGTERM and SIGHUP, and of a process that nothing can kill: such an end is left without
// a record, as a kill is.
JobEnd run_job(recording::Journal& journal, const std::function<void()>& work) {
  JobEnd end;
  try {
    work();
  } catch (const exec::Interrupted& interrupted) {
    end = {std::current_exception()};
    if (interrupted.signal != SIGINT) return end;
  } catch (const exec::DeviceLost&) {
    return {std::current_exception(), true};
  } catch (const Error&) {
    end = {std::current_exception(), true};
  } catch (...) {
    end = {std::current_exception()};
  }
  journal.note_end();
  return end;
}

void take_trials(Tuner& tuner, const JobEnd& end, double seconds, results::TuningOutcome& outcome) {
  outcome.trials = std::move(tuner.trials());
  outcome.fail_wrong_finalists();
  outcome.elapsed_seconds = seconds;
  outcome.ended_early = !end.complete() && !outcome.finals.interrupted;
  if (outcome.ended_early) outcome.notes.add("this run ended early; the same command continues it");
  if (const std::string& failure = tuner.systematic_failure(); end.complete() && !failure.empty())
    outcome.notes.add(failure + "\n(--keep-going tries the others anyway)");
}

void note_trials(const Plan& plan, results::TuningOutcome& outcome) {
  const auto reports_time = [](const Trial& trial) {
    return trial.measurement() && !is_of_whole_command(*trial.measurement());
  };
  if (plan.is_program() && !plan.program()->whole && std::ranges::any_of(outcome.trials, reports_time))
    outcome.notes.add(
        "the times are those that the command reports itself; --whole (whole: true) times the command instead");
  const KernelPlan* kernel = plan.kernel();
  const auto* trusted = kernel != nullptr ? std::get_if<TrustedSpec>(&kernel->reference) : nullptr;
  const auto is_another = [&](const Trial& trial) {
    return trial.measurement() != nullptr && !holds(trial.spec, trusted->settings);
  };
  if (trusted != nullptr && std::ranges::any_of(outcome.trials, &Trial::is_wrong) &&
      std::ranges::none_of(outcome.trials, is_another))
    outcome.notes.add(
        fmt::format("no other spec has the results of reference.spec {}; if those are wrong, choose another",
                    to_text(trusted->settings)));
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

void print(const results::Results& results) {
  platform::print_escaped(results.text());
  platform::flush_results();
}

void write_files(const results::Results& results, const results::Outputs& outputs, const Device& device,
                 std::span<const Trial> trials, Exporter& exporter) {
  try {
    results.write_files(outputs, device);
  } catch (const Error& error) {
    try {
      exporter.finish(trials);
    } catch (const Error& another) {
      throw Error(error.code(), std::string(error.what()) + "\n" + another.what());
    }
    throw;
  }
  exporter.finish(trials);
}

}  // namespace tune::tuning

#include "commands/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/audit/audit_noise.h"
#include "commands/commands.h"
#include "commands/tune/rules.h"
#include "commands/tune/simulate.h"
#include "exec/process/runner.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "platform/store/store.h"
#include "results/outputs.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

void audit_recordings(const Options& options, std::vector<AuditedShape>& done) {
  const std::vector<fs::path>& recordings = options.audit->recordings;
  const std::vector<std::string> names = platform::distinct_names(recordings);
  for (std::size_t i = 0; i < recordings.size(); ++i) done.push_back(audit_recording(options, recordings[i], names[i]));
}

std::string heading(const Options& options) {
  const AuditOptions& audit = *options.audit;
  const std::string noise =
      audit.noise ? fmt::format("noise of {:.4g} %", 100 * *audit.noise) : "the noise that recorded intervals tell";
  const std::string how = !audit.recordings.empty() ? "simulated with " + noise + "\nregret against the best recorded"
                          : audit.exhaustive        ? "regret against the best of all winners and an exhaustive run's"
                                                    : "regret against the best of all winners";
  return fmt::format("runs of each shape: {}, seeds from {}\n{}\n", audit.runs, options.seed, how);
}

fs::path csv_of(const Options& options) {
  results::OutputRules rules = output_rules(options);
  rules.journal = false;  // there is none of the audit itself
  rules.best = false;
  const results::Outputs outputs(rules);
  std::vector<fs::path> inputs = options.yaml;
  inputs.insert(inputs.end(), options.audit->recordings.begin(), options.audit->recordings.end());
  for (const auto& file : {options.shapes, options.device_file})
    if (file) inputs.push_back(*file);
  outputs.must_not_be(inputs);
  return outputs.csv;
}

void print_table(const Options& options, const std::vector<AuditedShape>& shapes) {
  if (!shapes.empty()) platform::print(heading(options) + audit_text(shapes));
  platform::flush_results();
}

/// The probability that so many or more of the runs have what each has with this probability.
double chance_of(int count, int runs, double probability) {
  double below = 0, one = std::pow(1 - probability, runs);
  for (int i = 0; i < count; ++i) {
    below += one;
    one *= probability / (1 - probability) * (runs - i) / (i + 1);
  }
  return 1 - below;
}

/// Whether the mean of the regrets is beyond the limit, with a probability of error of 5 %.
bool mean_is_beyond(const std::vector<AuditedShape>& shapes, const AuditFigures& all, double limit) {
  double squares = 0;
  for (const AuditedShape& shape : shapes)
    for (const AuditRun& run : shape.runs)
      if (run.relative) squares += std::pow(*run.relative - 1 - all.mean_regret, 2);
  if (all.known < 2) return false;
  const double error = std::sqrt(squares / (all.known - 1) / all.known);
  return all.mean_regret - 1.645 * error > limit;
}

/// What chance explains is undecided.
ExitCode held_against_limits(const AuditOptions& audit, const std::vector<AuditedShape>& shapes) {
  const AuditFigures all = figures_of(shapes);
  if (all.without_winner == all.runs) return ExitCode::none_valid;
  ExitCode code = ExitCode::ok;
  const auto require = [&](const char* option, double limit, const char* what, double found, bool is_sure) {
    if (found <= limit) return;
    platform::print_error(fmt::format("{} is {:.3g} %, more than {} {:.3g}%{}", what, 100 * found, option, 100 * limit,
                                      is_sure ? "" : ", which may be chance; more --runs tell"));
    code = worse(code, is_sure ? ExitCode::check_failed : ExitCode::undecided);
  };
  if (audit.max_flips)
    require("--max-flips", *audit.max_flips, "the share of runs whose winner changed beyond 1 %", all.changed_share(),
            chance_of(all.changed, all.runs, *audit.max_flips) < 0.05);
  if (audit.max_regret)
    require("--max-regret", *audit.max_regret, "the mean regret", all.mean_regret,
            mean_is_beyond(shapes, all, *audit.max_regret));
  return code;
}

}  // namespace

AuditedShape audit_recording(const Options& options, const fs::path& recording, const std::string& name) {
  AuditedShape audited{name, {}};
  Options tuning = options;
  tuning.simulate = recording;
  tuning.output.reset();
  for (int number = 1; number <= options.audit->runs; ++number, ++tuning.seed) {
    NoisyTuning noise(options.audit->noise, options.finalists, tuning.seed, recording.string());
    const SimulationHooks hooks = {[&](const Spec& spec, const Outcome& outcome, const Objective& objective) {
                                     return noise.answer(spec, outcome, objective);
                                   },
                                   [&](std::span<const Trial> trials, const Plan& plan, const Objective& objective) {
                                     return noise.choose(trials, plan, objective);
                                   }};
    AuditRun& run = audited.runs.emplace_back(AuditRun{number, tuning.seed, {}, 0, {}, {}, {}});
    const auto winner = simulated_winner(tuning, hooks);
    if (!winner) continue;
    run.winner = winner->trial.spec;
    run.seconds = winner->trial.measurement()->timing.median;
    run.relative = winner->relative;
  }
  return audited;
}

ExitCode audit(const Options& options) {
  const fs::path csv = csv_of(options);
  std::vector<AuditedShape> shapes;
  try {
    options.audit->recordings.empty() ? audit_tunings(options, shapes) : audit_recordings(options, shapes);
  } catch (const exec::Interrupted& interrupted) {
    print_table(options, shapes);
    platform::print_to_stderr("tune: interrupted; the same command with --continue goes on from here");
    return static_cast<ExitCode>(128 + interrupted.signal);
  } catch (...) {
    print_table(options, shapes);
    throw;
  }
  print_table(options, shapes);
  if (!csv.empty()) {
    std::error_code ignored;  // whoever writes the file says why it cannot
    if (csv.has_parent_path()) fs::create_directories(csv.parent_path(), ignored);
    platform::write_file(csv, audit_csv(shapes));
  }
  return held_against_limits(*options.audit, shapes);
}

}  // namespace tune::commands

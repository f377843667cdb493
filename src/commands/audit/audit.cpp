#include "commands/audit/audit.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "commands/tune/rules.h"
#include "exec/process/runner.h"
#include "platform/files/file.h"
#include "platform/files/log.h"
#include "platform/files/streams.h"
#include "results/outputs.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

void bind_audit_group(cli::Command& command, AuditOptions& audit) {
  command.group("Audit");
  command.whole("--runs", audit.runs, 1, "N", "How often each shape is tuned, each time with another seed")
      .shows_default();
  command.list("--simulate", audit.recordings, "FILE", "Tune on this recorded run; may be repeated").files(kRecordings);
  command.share("--with-noise", audit.noise,
                "Noise of every simulated time (default: what the recording's confidence intervals tell)");
  command.flag("--exhaustive", audit.exhaustive, "Know the best from one more run that times every spec in full");
  command.flag("--continue", audit.keep_journals, "Go on with an audit that ended early");
  command.share("--max-flips", audit.max_flips, "Exit with 3 if the winner changed in a larger share of the runs");
  command.share("--max-regret", audit.max_regret, "Exit with 3 if the mean regret is larger");
}

void refuse_audit_conflicts(const AuditOptions& audit) {
  if (audit.noise && audit.recordings.empty())
    cli::refuse("--with-noise is the noise of simulated times; real tunings have their own");
  if (!audit.recordings.empty() && (audit.exhaustive || audit.keep_journals))
    cli::refuse(
        "--simulate excludes --exhaustive and --continue: a recording knows its best, and nothing is left behind");
  if (audit.tuning.yaml.empty() && audit.tuning.job.load.command.empty() && audit.recordings.empty())
    cli::refuse("tune audit needs --yaml FILE, or --simulate FILE for a recorded run; see tune audit --help");
}

void bind(cli::Command& command, AuditOptions& audit) {
  TuneOptions& tuning = audit.tuning;
  tuning.tune = true;
  command.then([&audit, &tuning] {
    if (!audit.recordings.empty()) tuning.ask_for(Mode::simulate);
  });
  command.check([&audit] { refuse_audit_conflicts(audit); });
  bind_audited(command, tuning);
  bind_audit_group(command, audit);
}

void audit_recordings(const AuditOptions& audit, std::vector<AuditedShape>& done) {
  const std::vector<fs::path>& recordings = audit.recordings;
  const std::vector<std::string> names = platform::distinct_names(recordings);
  for (std::size_t i = 0; i < recordings.size(); ++i) done.push_back(audit_recording(audit, recordings[i], names[i]));
}

std::string heading(const AuditOptions& audit) {
  const std::string noise =
      audit.noise ? fmt::format("noise of {:.4g} %", 100 * *audit.noise) : "the noise that recorded intervals tell";
  const std::string how = !audit.recordings.empty() ? "simulated with " + noise + "\nregret against the best recorded"
                          : audit.exhaustive        ? "regret against the best of all winners and an exhaustive run's"
                                                    : "regret against the best of all winners";
  return fmt::format("runs of each shape: {}, seeds from {}\n{}\n", audit.runs, audit.tuning.job.search.seed, how);
}

fs::path csv_of(const AuditOptions& audit) {
  results::OutputRules rules = output_rules(audit.tuning, audit.tuning.job);
  rules.journal = false;  // there is none of the audit itself
  rules.best = false;
  const results::Outputs outputs(audit.tuning.outputs, rules);
  std::vector<fs::path> inputs = audit.tuning.yaml;
  inputs.insert(inputs.end(), audit.recordings.begin(), audit.recordings.end());
  for (const auto& file : {audit.tuning.shapes, audit.tuning.machine.device_file})
    if (file) inputs.push_back(*file);
  outputs.must_not_be(inputs);
  return outputs.csv;
}

void print_table(const AuditOptions& audit, const std::vector<AuditedShape>& shapes) {
  if (!shapes.empty()) platform::print(heading(audit) + audit_text(shapes));
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
    print_error(fmt::format("{} is {:.3g} %, more than {} {:.3g}%{}", what, 100 * found, option, 100 * limit,
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

ExitCode run_audit(const AuditOptions& audit) {
  if (audit.tuning.terminal.verbose) platform::log_verbosely();
  const fs::path csv = csv_of(audit);
  std::vector<AuditedShape> shapes;
  try {
    audit.recordings.empty() ? audit_tunings(audit, shapes) : audit_recordings(audit, shapes);
  } catch (const exec::Interrupted& interrupted) {
    print_table(audit, shapes);
    platform::print_to_stderr("tune: interrupted; the same command with --continue goes on from here");
    return static_cast<ExitCode>(128 + interrupted.signal);
  } catch (...) {
    print_table(audit, shapes);
    throw;
  }
  print_table(audit, shapes);
  if (!csv.empty()) platform::write_file(csv, audit_csv(shapes));
  return held_against_limits(audit, shapes);
}

ExitCode run(const AuditOptions& audit) { return with_exit_undecided(run_audit(audit), audit.tuning.exit_undecided); }

}  // namespace

extern const cli::CommandSpec kAudit =
    cli::command_spec<AuditOptions, bind, run>("audit", "Repeat a tuning and say how far its answers can be trusted");

}  // namespace tune::commands

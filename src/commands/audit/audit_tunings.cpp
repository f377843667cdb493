#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/audit/audit.h"
#include "commands/installation.h"
#include "commands/print_messages.h"
#include "commands/simulate/simulate.h"
#include "commands/tune/rules.h"
#include "commands/tune/tune.h"
#include "platform/files/streams.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

bool by_time(const Objective& objective, const Ranked& row) {
  return objective.merit(row.trial->spec, *row.trial->measurement()).by_time;
}

double seconds_of(const Ranked& row) {
  return row.finals_result ? row.finals_result->time.seconds : row.trial->measurement()->timing.median;
}

/// What a row costs, lower is better: paired ratios tell more than the times they are of.
double cost_of(const Ranked& row, const Ranked& first, const Objective& objective) {
  if (!by_time(objective, row)) return objective.maximize() ? 1 / row.objective : row.objective;
  return row.finals_result && first.finals_result ? row.finals_result->ratio : seconds_of(row) / seconds_of(first);
}

class TuningAudit {
 public:
  explicit TuningAudit(const AuditOptions& audit)
      : audit_(&audit),
        options_(&audit.tuning),
        workers_(find_workers(options_->measure.deadlines)),
        prefix_(options_->job.prefix ? options_->job.prefix->string() : prefix_in_state_folder(*options_, "audit")) {
    if (options_->shapes)
      for (const config::Shape& shape : config::read_shapes(*options_->shapes).shapes) shapes_.emplace_back(shape);
    else
      shapes_.emplace_back(std::nullopt);
  }

  void run(std::vector<AuditedShape>& done) {
    read_all_shapes();
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      AuditedShape audited{names_[i], {}};
      for (int number = 1; number <= audit_->runs; ++number) {
        say(fmt::format("{}: run {} of {}", names_[i], number, audit_->runs));
        audited.runs.push_back(tune(number, shapes_[i]));
      }
      judge(audited, shapes_[i]);
      done.push_back(std::move(audited));
    }
    if (!options_->job.prefix) say("journals: " + prefix_ + "-*.jsonl");
  }

 private:
  using ShapeOrNone = std::optional<config::Shape>;

  /// What is wrong with any shape is said before the first is tuned.
  void read_all_shapes() {
    std::vector<std::string> warnings;
    for (const auto& shape : shapes_) {
      const Target target(*options_, workers_, numbered(1, shape));
      names_.push_back(name_of(target, shape));
      target.add_warnings_to(warnings);
    }
    print_warnings(warnings);
  }

  static std::string name_of(const Target& target, const ShapeOrNone& shape) {
    return shape ? config::to_text(*shape) : target.plan().name;
  }

  void say(const std::string& text) const {
    if (!options_->job.quiet) platform::print_to_stderr("audit: " + text);
  }

  /// A tuning with files of its own.
  Job job_called(const std::string& name, const ShapeOrNone& shape) const {
    Job job = options_->job;
    job.load.shape = shape;
    job.prefix = prefix_ + name;
    job.silent = true;
    job.anew = !audit_->keep_journals;
    return job;
  }

  Job numbered(int number, const ShapeOrNone& shape) const {
    Job job = job_called(fmt::format("-run{}", number), shape);
    job.search.seed += static_cast<std::uint64_t>(number - 1);
    return job;
  }

  /// One that no budget cuts short: it says how good the winners really are.
  Job unbounded(const std::string& name, const ShapeOrNone& shape) const {
    Job job = job_called(name, shape);
    job.in_full = true;
    job.search.max_evals.reset();
    job.search.time_budget.reset();
    job.search.stop_within.reset();
    job.search.strategy.reset();
    return job;
  }

  AuditRun tune(int number, const ShapeOrNone& shape) {
    const Job job = numbered(number, shape);
    AuditRun audited{number, job.search.seed, {}, 0, {}, {}, {}};
    const auto recorded = tune_once(job, audited);
    if (!audited.winner) return audited;
    // With a time budget the same command continues the search.
    if (!job.search.time_budget) audited.replayed = replays(job, *audited.winner);
    if (recorded) audited.simulated = simulates(*recorded, *audited.winner);
    return audited;
  }

  /// The journal, if it can be replayed without the tuning file, which may define another objective than the time.
  std::optional<fs::path> tune_once(const Job& job, AuditRun& audited) {
    Target target(*options_, workers_, job);
    const Tuned tuned = tune_one_of_several(target);
    const fs::path& journal = target.outputs.journal;
    if (tuned.rows.empty()) {
      platform::print_to_stderr("audit: this run found no valid spec; its journal tells why: " + journal.string());
      return std::nullopt;
    }
    const Ranked& first = tuned.rows.front();
    audited.winner = first.trial->spec;
    audited.seconds = seconds_of(first);
    const bool by_time_alone = target.objective.name() == "time" && target.objective.follows_time();
    return by_time_alone ? std::optional(journal) : std::nullopt;
  }

  /// Whether the journal of a tuning answers the same again.
  bool replays(Job job, const Spec& winner) {
    job.quiet = true;
    job.retry_failed = false;
    job.anew = false;
    Target target(*options_, workers_, std::move(job));
    const Tuned tuned = tune_one_of_several(target);
    return !tuned.started_workers && !tuned.rows.empty() &&
           identity(tuned.rows.front().trial->spec) == identity(winner);
  }

  bool simulates(const fs::path& journal, const Spec& winner) const {
    TuneOptions as_recorded;
    as_recorded.tune = true;
    const auto simulated = simulated_winner(as_recorded, journal, {});
    return simulated && holds(winner, simulated->trial.spec.params);
  }

  /// The winners of all runs, and what else may be the best.
  std::vector<Spec> candidates(const AuditedShape& audited, const ShapeOrNone& shape) {
    std::map<std::string, Spec> specs;
    for (const AuditRun& run : audited.runs)
      if (run.winner) specs.emplace(identity(*run.winner), *run.winner);
    if (audit_->exhaustive && !specs.empty()) {
      say(audited.name + ": every spec in full");
      Job job = unbounded("-exhaustive", shape);
      job.search.strategy = search::parse_strategy("exhaustive");
      Target target(*options_, workers_, std::move(job));
      const Tuned tuned = tune_one_of_several(target);
      if (!tuned.rows.empty()) specs.emplace(identity(tuned.rows.front().trial->spec), tuned.rows.front().trial->spec);
    }
    std::vector<Spec> list;
    for (const auto& [name, spec] : specs) list.push_back(spec);
    return list;
  }

  // Times of several runs are not compared: all winners meet in finals of their own.
  void judge(AuditedShape& audited, const ShapeOrNone& shape) {
    const std::vector<Spec> specs = candidates(audited, shape);
    std::map<std::string, double> costs;
    if (specs.size() == 1) costs[identity(specs.front())] = 1;
    if (specs.size() > 1) costs = joint_costs(specs, audited.name, shape);
    if (costs.empty()) return;
    const double best = std::ranges::min_element(costs, {}, [](const auto& cost) { return cost.second; })->second;
    for (AuditRun& run : audited.runs)
      if (run.winner && costs.contains(identity(*run.winner))) run.relative = costs.at(identity(*run.winner)) / best;
  }

  std::map<std::string, double> joint_costs(const std::vector<Spec>& specs, const std::string& name,
                                            const ShapeOrNone& shape) {
    say(fmt::format("{}: finals of {} winners", name, specs.size()));
    Job job = unbounded("-joint", shape);
    job.only = specs;
    Target target(*options_, workers_, std::move(job));
    const Tuned tuned = tune_one_of_several(target);
    std::map<std::string, double> costs;
    for (const Ranked& row : tuned.rows)
      costs[identity(row.trial->spec)] = cost_of(row, tuned.rows.front(), target.objective);
    return costs;
  }

  const AuditOptions* audit_;
  const TuneOptions* options_;
  exec::Workers workers_;
  std::string prefix_;
  std::vector<ShapeOrNone> shapes_;
  std::vector<std::string> names_;  ///< of the shapes
};

}  // namespace

void audit_tunings(const AuditOptions& audit, std::vector<AuditedShape>& done) { TuningAudit(audit).run(done); }

}  // namespace tune::commands

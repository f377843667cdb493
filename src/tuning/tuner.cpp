#include "tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "model/values/error.h"
#include "platform/process/bounded_log.h"
#include "report/shown_text.h"

namespace tune::tuning {
namespace {

constexpr std::size_t kRecordedLog = 4096;
constexpr auto kTick = std::chrono::milliseconds(250);

}  // namespace

std::string figure_text(const Objective& objective, double value) {
  return objective.by_time() ? "" : report::whole_or_four_digits(value) + " " + objective.name();
}

Tuner::Tuner(const Objective& objective, exec::Runner& runner, report::Progress& progress, TunerRules rules, Now now,
             exec::RunObserver& observer, std::optional<Record> record)
    : objective_(&objective),
      runner_(&runner),
      progress_(&progress),
      rules_(std::move(rules)),
      now_(std::move(now)),
      observer_(&observer),
      record_(record) {}

void Tuner::sweep(search::Strategy& strategy) {
  started_ = now_();
  std::int64_t asked = 0;
  int out = 0;
  bool more = true;
  while (more || out > 0) {
    while (more && systematic_failure_.empty() && runner_->free_slots() > 0 &&
           !(rules_.most_out && out == *rules_.most_out)) {
      more = may_start(asked);
      auto spec = more && has_time_for(out + 1) ? strategy.ask() : std::nullopt;
      if (!spec) {
        more = more && out > 0;  // there may be one, or time for it, once another trial is told
        break;
      }
      runner_->start(*spec);
      ++asked;
      ++out;
    }
    if (out == 0 || !systematic_failure_.empty()) return;
    Trial trial = wait();
    --out;
    record(trial);
    observer_->finished(trial);
    strategy.tell(trial);
    learn(trial);
    if (!trial.recorded) ++tried_;
    trials_.push_back(std::move(trial));
  }
}

bool Tuner::may_start(std::int64_t asked) const {
  return !enough_ && !(rules_.max_evals && asked == *rules_.max_evals) && in_time();
}

bool Tuner::in_time() const {
  return !rules_.sweep_budget || std::chrono::duration<double>(now_() - started_).count() < *rules_.sweep_budget;
}

// Whether so many would end in time if they took as long as those before. Two are tried in any case: one is no choice,
// and the first may have waited for what all need.
bool Tuner::has_time_for(std::int64_t specs) const {
  if (!rules_.sweep_budget || tried_ == 0 || tried_ + specs <= 2) return true;
  const double passed = std::chrono::duration<double>(now_() - started_).count();
  return passed + passed / static_cast<double>(tried_) * static_cast<double>(specs) < *rules_.sweep_budget;
}

std::int64_t Tuner::repeat(const std::function<bool(const Trial&)>& which) {
  std::deque<Spec> missing;
  best_merit_.reset();
  for (const Trial& trial : trials_) {
    if (which(trial))
      missing.push_back(trial.spec);
    else
      note_best(trial);
  }
  std::int64_t out = 0, done = 0;
  for (;;) {
    for (; !missing.empty() && in_time() && runner_->free_slots() > 0; ++out) {
      runner_->start(missing.front());
      missing.pop_front();
    }
    if (out == 0) return done;
    Trial trial = wait();
    --out;
    ++done;
    record(trial);
    observer_->finished(trial);
    note_best(trial);
    *std::ranges::find(trials_, trial.spec.mesh_idx, [](const Trial& t) { return t.spec.mesh_idx; }) = std::move(trial);
  }
}

void Tuner::repeat(Trial& trial) {
  trial = try_one(trial.spec);
  observer_->finished(trial);
}

Trial Tuner::try_one(const Spec& spec) {
  runner_->start(spec);
  Trial trial = wait();
  record(trial);
  return trial;
}

Trial Tuner::wait() {
  for (;;) {
    auto trial = runner_->wait(now_() + kTick);
    if (record_) record_->journal.flush(false);
    if (!trial) {
      progress_->set_activity(runner_->activity(), now_());
      continue;
    }
    if (auto* measurement = std::get_if<Measurement>(&trial->outcome); measurement != nullptr && record_)
      measurement->build.code = record_->requests.code_of(trial->spec, measurement->build.artifact_hash);
    refuse_other_time(*trial);
    if (auto* measurement = std::get_if<Measurement>(&trial->outcome)) choose_time(measurement->timing, rules_.time);
    return std::move(*trial);
  }
}

// Where a program may report its time and need not: one that leaves early without a result must not win by the time of
// its process.
void Tuner::refuse_other_time(Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr) return;
  const bool whole = is_of_whole_command(*measurement);
  if (!first_time_) first_time_ = {trial.spec.mesh_idx, whole};
  if (first_time_->is_whole == whole) return;
  trial.outcome = Failure{
      Stage::measure,
      Cause::reported,
      fmt::format("the program printed {} result, and in spec {} it printed {}: their times cannot be compared; say "
                  "which counts by whole: true (--whole) or whole: false",
                  whole ? "no" : "a", first_time_->mesh_idx, whole ? "one" : "none"),
      {}};
}

void Tuner::record(const Trial& trial) {
  if (trial.recorded || !record_) return;
  wire::TrialRecord entry{record_->requests.trial_id(trial.spec), trial,
                          std::chrono::duration<double>(now_() - started_).count()};
  if (auto* failure = std::get_if<Failure>(&entry.trial.outcome)) {
    platform::BoundedLog log(kRecordedLog);
    log.add(failure->log);
    failure->log = log.text();
  }
  record_->journal.append(entry);
}

// Whether it is the best so far.
bool Tuner::note_best(const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr || measurement->timing.stopped_early) return false;
  const auto merit = objective_->merit(trial);
  if (!merit || (best_merit_ && merit->cost() >= best_merit_->cost())) return false;
  best_merit_ = merit;
  if (rules_.enough) enough_ = merit->maximize ? merit->value >= *rules_.enough : merit->value <= *rules_.enough;
  if (rules_.cut_slow) tell_best(trial);
  return true;
}

void Tuner::learn(const Trial& trial) {
  const bool best = note_best(trial);
  progress_->tell(trial, best, now_(), best ? figure_text(*objective_, best_merit_->value) : "");
  if (rules_.keep_going) return;
  if (trials_.empty()) require_objectives(trial);
  if (!fails_alike(trial)) return;
  if (rules_.flaw.empty())
    systematic_failure_ = "the first " + std::to_string(failures_in_a_row_) + " specs all failed alike" +
                          (trial.is_wrong() ? ": if their results are right, reference: is not" : "");
  else
    systematic_failure_ = "this failed, and so will all specs: " + rules_.flaw;
}

// An objective that is misspelt is to cost one spec, not a sweep.
void Tuner::require_objectives(const Trial& first) const {
  if (first.measurement() == nullptr) return;
  const std::string why = objective_->why_not_reported(first.spec, *first.measurement());
  if (!why.empty()) throw Error(ExitCode::bad_input, why + " (--keep-going tries the other specs anyway)");
}

void Tuner::tell_best(const Trial& best) {
  const Measurement& measurement = *best.measurement();
  if (objective_->follows_time()) runner_->set_best(best, measurement.timing.median, 0);
  const auto energy = measurement.metrics.find("energy");
  if (objective_->follows_energy() && energy != measurement.metrics.end()) runner_->set_best(best, 0, energy->second);
}

bool Tuner::fails_alike(const Trial& trial) {
  if (failures_in_a_row_ < 0) return false;
  const Failure* failure = trial.failure();
  if (failure != nullptr && failures_in_a_row_ == 0) first_failure_ = *failure;
  const bool alike =
      failure != nullptr && failure->stage == first_failure_.stage && failure->kind == first_failure_.kind;
  failures_in_a_row_ = alike ? failures_in_a_row_ + 1 : -1;
  // What an earlier run recorded counts, but stops nothing: a run that all is known of says what it found.
  const int most = rules_.flaw.empty() ? std::max(20, 2 * rules_.jobs) : 1;
  return !trial.recorded && failures_in_a_row_ >= most;
}

}  // namespace tune::tuning

#include "tuning/finals_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "model/statistics/tournament.h"
#include "tuning/contenders.h"
#include "tuning/finals_journal.h"

namespace tune::tuning {
namespace {

using results::HeldFinals;
using results::NoFinals;

// How well the time of a spec that meets nobody is to be known.
constexpr double kKnownWell = 0.02;
constexpr double kEnergySeconds = 1.2;  // of a turn in which energy is measured, too

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

/// Whether a round was held that some spec came through.
bool any_timed(const Finals& finals) {
  return std::ranges::any_of(finals.finalists, [](const Finalist& f) { return f.entrant.is_spec() && finished(f); });
}

/// The first algorithm is one of those that the library offers: it is the best of them where another, chosen in a short
/// race, turns out to be no faster.
Finals settled(Finals finals) {
  const auto find = [&](Entrant::Kind kind) {
    const auto found = std::ranges::find(finals.finalists, kind, [](const Finalist& f) { return f.entrant.kind; });
    return found == finals.finalists.end() || !finished(*found) ? nullptr : &*found;
  };
  const Finalist* const first = find(Entrant::Kind::vendor_first);
  Finalist* const best = find(Entrant::Kind::vendor_fastest);
  if (first == nullptr || best == nullptr || median_seconds(*best) <= median_seconds(*first)) return finals;
  best->rounds = first->rounds;
  best->other_state_seconds = first->other_state_seconds;
  best->metrics = first->metrics;
  best->launches = first->launches;
  return finals;
}

/// See decide_in_finals().
class FinalsStage {
 public:
  FinalsStage(const FinalsJob& job, results::TuningOutcome& outcome)
      : job_(job), outcome_(&outcome), finals_(&outcome.finals) {}

  void hold(Tuner& tuner) {
    const auto add_all_notes = [&] {
      note_default(tuner);
      add_notes(tuner);
    };
    try {
      decide(tuner);
    } catch (const exec::Interrupted&) {
      finals_->interrupted = true;
      add_all_notes();
      throw;
    }
    add_all_notes();
  }

 private:
  // The baselines are tried as specs are, then all contenders meet.
  void decide(Tuner& tuner) {
    results::Notices& notes = outcome_->notes;
    Contenders contenders{
        choose_specs(tuner.trials(), job_.plan, job_.objective, outcome_->default_spec, job_.finalists), {}};
    if (contenders.specs.empty()) return;
    if (!job_.settings.hold) {
      finals_->state = NoFinals{NoFinals::Why::not_wanted};
      if (!job_.plan.baselines.empty() || !job_.stored.empty())
        notes.add("no baseline was timed, because --no-finals leaves the finals out");
      return;
    }
    contenders.baselines = try_baselines(tuner, job_.plan, job_.stored, notes);
    const std::size_t chosen = contenders.specs.size();
    finals_->unrivalled = chosen == 1;
    alone_ = job_.alone || is_one_program_of_unknown_noise(tuner, contenders);
    if (!enough(contenders)) return;
    compare_code(tuner, contenders);
    cut_to_memory(contenders, job_.requests, job_.one_process, notes);
    if (!enough(contenders)) {
      finals_->state = NoFinals{job_.one_process ? NoFinals::Why::one_process : NoFinals::Why::memory_for_one};
      return;
    }
    if (job_.objective.by_time()) mark_slow(contenders, tuner.trials());
    meant_ = contenders.count();
    const FinalsJournal journal(job_, contenders.all());
    if (std::optional<HeldFinals> before = journal.restore()) {
      finals_->state = std::move(*before);
      return;
    }
    const exec::FinalsRules rules = rules_after(tuner);
    const double round = round_seconds(contenders, tuner.trials(), rules);
    const double needed = Judge(contenders.specs.size()).fewest_rounds() * round;
    const double seconds_left =
        std::chrono::duration<double>(std::max(rules.end, rules.end_of_first_rounds) - now()).count();
    if (rules.end_is_firm && rules.by_time && Judge::kFewest * round > seconds_left) {
      const bool all_fit = contenders.specs.size() == chosen;  // into memory
      leave_out_slow(contenders);
      finals_->unrivalled = all_fit && contenders.specs.size() == 1;
      if (finals_->unrivalled && !enough(contenders)) return;
    }
    if (rules.end_is_firm && contenders.count() > 1) cut_to_time(contenders, tuner.trials(), rules, seconds_left);
    if (!enough(contenders)) {
      finals_->state = NoFinals{NoFinals::Why::no_time, needed};
      return notes.add(fmt::format("there were no finals: the {:.1f} s left are too few for a round of two contenders",
                                   std::max(seconds_left, 0.0)));
    }
    hold_finals(journal, contenders.all(), rules);
  }

  exec::FinalsRules rules_after(const Tuner& tuner) const {
    const auto begin = now();
    const bool is_sustained = is_gpu(job_.plan.backend()) && job_.plan.measure.state == PowerState::sustained;
    exec::FinalsRules rules;
    rules.seed = job_.requests.seed();
    rules.one_of_several = job_.one_of_several;
    rules.accuracy = job_.accuracy;
    rules.width = job_.width;
    rules.question = job_.question;
    rules.by_time = job_.objective.by_time();
    // On an H200, finals of kernels of 1.1 to 2.6 ms chose as well by one launch as by three, and ended sooner.
    if (are_steady(job_.plan, job_.objective, tuner.trials())) rules.launches = 1;
    if (is_sustained) rules.least_turn = kSustainedTurnSeconds;
    const bool takes_energy = job_.plan.measure.energy == MeasureRules::Energy::always;
    if (takes_energy && !job_.plan.is_program()) rules.least_turn += kEnergySeconds;
    if (alone_ && rules.by_time && !rules.width && outcome_->same_as_earlier.empty()) rules.width = kKnownWell;
    double sweep = 0;
    for (const Trial& trial : tuner.trials()) sweep += trial.measure_seconds;
    rules.end = begin + platform::ticks(job_.settings.seconds_after(sweep));
    rules.end_of_first_rounds =
        job_.settings.budget
            ? rules.end
            : begin + platform::ticks(is_sustained ? kSustainedFirstRoundsSeconds : kFirstRoundsSeconds);
    rules.end_is_firm = job_.settings.budget.has_value();
    // What is left of the run's time is theirs, unless they have a budget of their own or other tunings follow.
    const bool have_all = !job_.settings.budget && !rules.one_of_several;
    if (job_.deadline && (have_all || *job_.deadline < std::max(rules.end, rules.end_of_first_rounds))) {
      rules.end = have_all ? *job_.deadline : std::min(rules.end, *job_.deadline);
      rules.end_of_first_rounds = *job_.deadline;
      rules.end_is_firm = true;
    }
    if (is_gpu(job_.plan.backend()) && !rules.one_of_several)
      rules.other_state = job_.plan.measure.state == PowerState::burst ? PowerState::sustained : PowerState::burst;
    return rules;
  }

  void hold_finals(const FinalsJournal& journal, std::vector<wire::Contender> contenders, exec::FinalsRules rules) {
    const auto begin = now();
    std::optional<double> room;
    if (job_.deadline) room = std::max(std::chrono::duration<double>(*job_.deadline - begin).count(), 0.0);
    journal.blame_for_crashes(contenders, rules);
    const std::size_t count = contenders.size();
    const auto finals = job_.measuring.executor().finals(std::move(contenders), rules);
    const auto tick = [&](int round, std::size_t active) {
      job_.progress.set_finals({round, SequentialIntervals::looks().back(), active, count, begin,
                                std::max(rules.end, rules.end_of_first_rounds)},
                               now());
      job_.journal.flush(false);
    };
    try {
      finals_->state = HeldFinals{settled(finals->run(tick))};
    } catch (const exec::Interrupted&) {
      if (Finals until_now = finals->so_far(); any_timed(until_now))
        finals_->state = HeldFinals{settled(std::move(until_now))};
      throw;
    }
    HeldFinals& held = *finals_->held();
    held.room = room;
    held.seconds = std::chrono::duration<double>(now() - begin).count();
    const auto is_wrong = [](const Finalist& each) { return each.failure && each.failure->is_wrong_result(); };
    // A result that is timed again is not to be known the next time.
    const bool says_much = finals_->has_winner() || std::ranges::any_of(held.finalists, is_wrong);
    if ((count > 1 || !job_.alone) && says_much) journal.append(held);
  }

  /// Finds the specs that are measured just as the earlier result that they are compared with.
  void compare_code(const Tuner& tuner, Contenders& contenders) const {
    const auto& question = job_.question;
    const auto earlier = std::ranges::find_if(contenders.baselines, [&](const wire::Contender& baseline) {
      return question && baseline.entrant.name == question->baseline && !baseline.code.empty();
    });
    if (earlier == contenders.baselines.end()) return;
    for (wire::Contender& contender : contenders.specs) {
      const Spec& spec = contender.entrant.spec;
      const Measurement& measured = *find_trial(tuner.trials(), spec.mesh_idx)->measurement();
      contender.code = exec::Identity::of_measuring(measured.build.artifact_hash, job_.requests.measure(spec),
                                                    device_settings(spec));
      if (contender.code == earlier->code) outcome_->same_as_earlier.insert(spec.mesh_idx);
    }
  }

  bool enough(const Contenders& contenders) const { return contenders.count() >= (alone_ ? 1 : 2); }

  /// A program that tells its own time is run once in the sweep. Five rounds tell how that differs between runs, unless
  /// they last long.
  bool is_one_program_of_unknown_noise(const Tuner& tuner, const Contenders& contenders) const {
    if (contenders.count() != 1 || !job_.plan.is_program() || !job_.objective.by_time()) return false;
    const Trial* trial = find_trial(tuner.trials(), contenders.specs.front().entrant.spec.mesh_idx);
    double seconds = job_.settings.budget.value_or(kFirstRoundsSeconds);
    if (job_.deadline) seconds = std::min(seconds, std::chrono::duration<double>(*job_.deadline - now()).count());
    const Measurement& measurement = *trial->measurement();
    return !is_of_whole_command(measurement) && !estimate_of(measurement.timing).interval &&
           Judge::kFewest * trial->measure_seconds <= seconds;
  }

  // Without a note a reader of the table would look for today's configuration in vain.
  void note_default(Tuner& tuner) {
    if (!outcome_->default_spec) return;
    const Trial* trial = find_trial(tuner.trials(), outcome_->default_spec->mesh_idx);
    if (trial == nullptr) return;
    if (const Failure* failure = trial->failure())
      outcome_->notes.add("default failed: " + failure->headline());
    else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial->outcome))
      outcome_->notes.add("default is pruned: " + pruned->reason);
  }

  /// Who is left out of those that may be faster than they were timed.
  results::DisturbedSpecs disturbed_beside(const Finals& finals, const Tuner& tuner) const {
    results::DisturbedSpecs disturbed;
    for (const Trial* trial : disturbed_specs(tuner.trials(), job_.plan, job_.objective, outcome_->default_spec)) {
      ++disturbed.all;
      disturbed.left_out += find_spec(finals, trial->spec.mesh_idx) == nullptr ? 1 : 0;
    }
    return disturbed;
  }

  // A remark that holds for several is said once, and so is why both rows of the vendor's library failed.
  void add_notes(const Tuner& tuner) {
    HeldFinals* const held = finals_->held();
    if (held == nullptr) return;
    results::Notices& notes = outcome_->notes;
    held->disturbed = disturbed_beside(*held, tuner);
    if (const std::size_t count = held->finalists.size(); count < meant_)
      notes.add(fmt::format("the finals have {} of {} contenders: the time left is enough for no more", count, meant_));
    if (const Trial* faster = overlooked_spec(tuner.trials(), *held, job_.plan.backend(), outcome_->default_spec);
        faster != nullptr && job_.objective.by_time()) {
      held->overlooked = faster->spec.mesh_idx;
      notes.add(
          fmt::format("spec {} was not in the finals, and may be faster than the best: it took {:.4g} ms in the sweep; "
                      "--fresh measures all specs again",
                      faster->spec.mesh_idx, faster->measurement()->timing.median * 1e3));
    }
    std::set<std::string> said;
    for (const Finalist& finalist : held->finalists) {
      const bool is_spec = finalist.entrant.is_spec();
      for (const std::string& remark : finalist.remarks) {
        if (!said.insert(remark).second) continue;
        is_spec ? notes.add(remark) : notes.add_of_baseline(finalist.entrant.name, remark);
      }
      if (!finalist.failure) continue;
      if (is_spec)
        notes.add(fmt::format("spec {} failed in the finals{}: {}", finalist.entrant.spec.mesh_idx,
                              finalist.failure->is_wrong_result() ? ", although the sweep found it right"
                                                                  : " and keeps its time of the sweep",
                              finalist.failure->headline()));
      else if (const std::string& why = finalist.failure->message;
               !finalist.entrant.is_vendor() || said.insert(why).second)
        notes.add_of_baseline(finalist.entrant.name, why);
    }
  }

  const FinalsJob& job_;
  results::TuningOutcome* outcome_;
  results::FinalsOutcome* finals_;  ///< of the outcome
  bool alone_ = false;              ///< a spec that nothing else meets is timed in rounds
  std::size_t meant_ = 0;           ///< how many contenders there would be if there were time for all
};

}  // namespace

void decide_in_finals(const FinalsJob& job, Tuner& tuner, results::TuningOutcome& outcome) {
  FinalsStage(job, outcome).hold(tuner);
}

}  // namespace tune::tuning

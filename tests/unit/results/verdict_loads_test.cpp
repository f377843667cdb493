// How often the verdict on a command is right, and how often it is sure, while other programs run in bursts, build, or
// load the machine heavily: the worker's own rules of measuring, the choice of finalists and the finals on a simulated
// machine.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <sstream>

#include "exec/evaluate/finals_runner.h"
#include "fakes/fake_host.h"
#include "model/statistics/finals_settings.h"
#include "model/values/random.h"
#include "platform/process/process.h"
#include "program/whole_command.h"
#include "search/strategy.h"
#include "tuning/contenders.h"
#include "tuning/finals_stage.h"

namespace tune::verdict_loads_test {
namespace {

/// Other programs take the cores for a while, again and again: what runs then gets this share of a core.
struct Load {
  double gap = 0, burst = 0;     ///< seconds in the mean, of times without and with them; a gap of 0: there is none
  double share = 1, others = 1;  ///< in bursts, and between them
};
constexpr Load kBursts{3, 0.6, 0.5, 1}, kRareBursts{8, 0.4, 0.5, 1}, kBuild{0.2, 0.6, 0.5, 0.8},
    kHeavy{3, 0.6, 0.25, 0.4}, kNone{1, 0, 1, 1};

double uniform(Random& random) { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; }

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum;
}

/// A machine with a clock of its own.
class Machine {
 public:
  Machine(const Load& load, std::uint64_t seed) : load_(load), random_(seed) {}

  double now() const { return now_; }
  void wait_until(double time) {
    while (now_ < time) pass(time - now_, 0);
  }
  /// Runs what needs so many seconds of a core; half a per cent of noise is the program's own.
  platform::ResourceUse run(double work) {
    double left = work * (1 + 0.005 * std::abs(normal(random_)));
    platform::ResourceUse use;
    use.user_seconds = use.cpu_seconds = left;
    const double begin = now_;
    while (left > 0) left -= pass(left / share(), share());
    use.seconds = now_ - begin;
    use.waited_seconds = use.seconds - use.user_seconds;
    return use;
  }

 private:
  double share() const { return busy_ ? load_.share : load_.others; }

  /// Goes on for so long, or until the load changes; returns what was done by this share of a core.
  double pass(double seconds, double at) {
    const double step = std::min(seconds, change_ - now_);
    now_ += step;
    if (now_ >= change_) {
      busy_ = !busy_ && load_.burst > 0;
      change_ = now_ + (busy_ ? load_.burst * (0.5 + uniform(random_)) : -load_.gap * std::log(uniform(random_)));
    }
    return step * at;
  }

  Load load_;
  Random random_;
  double now_ = 0, change_ = 0;
  bool busy_ = true;
};

/// Measures spec i, a command that takes work[i] seconds alone, as the worker does.
class SimulatedRunner : public exec::Runner {
 public:
  SimulatedRunner(Machine& machine, std::vector<double> work) : machine_(&machine), work_(std::move(work)) {}
  int free_slots() const override { return trial_ ? 0 : 1; }
  void start(const Spec& spec) override {
    const double begin = machine_->now(), work = work_.at(static_cast<std::size_t>(spec.mesh_idx));
    MeasureRules rules;
    rules.warmup = 1;
    worker::WholeCommand command(rules, [&] { return machine_->run(work); });
    command.add_first(machine_->run(work));
    const wire::Measured measured = command.measure({.best_seconds = best_});
    Measurement measurement;
    measurement.timing = measured.timing;
    trial_ = Trial{spec, std::move(measurement), 0, false, machine_->now() - begin};
  }
  std::optional<Trial> wait(Clock::time_point) override { return std::exchange(trial_, std::nullopt); }
  void set_best(const Trial&, double seconds, double) override { best_ = seconds; }
  Activity activity() const override { return {}; }

 private:
  Machine* machine_;
  std::vector<double> work_;
  std::optional<Trial> trial_;
  double best_ = 0;
};

struct Outcome {
  bool right = false, sure = false;
  double over_limit = 0;  ///< seconds by which the finals exceeded what they may take
};

/// One tuning of 16 commands that take 20.0, 20.6, 21.2, ... 40 ms alone, in random order.
Outcome tune_under(const Load& load, std::uint64_t seed) {
  constexpr std::size_t kSpecs = 16;
  std::vector<double> work;
  for (std::size_t i = 0; i < kSpecs; ++i)
    work.push_back(i < 11 ? 0.020 + 0.0006 * static_cast<double>(i) : 0.0265 + 0.0027 * static_cast<double>(i - 10));
  Random random(seed);
  shuffle(work, random);

  Machine machine(load, seed);
  SimulatedRunner runner(machine, work);
  const Plan plan = [] {
    Plan program;
    program.subject = ProgramPlan();
    return program;
  }();
  const Objective objective(plan);
  std::ostringstream screen;
  report::Progress progress(screen, {}, kSpecs, {});
  tuning::TunerRules rules;
  rules.cut_slow = true;
  tuning::Tuner tuner(objective, runner, progress, rules, [] { return report::Progress::Time(); });
  std::deque<Spec> specs;
  for (std::size_t i = 0; i < kSpecs; ++i) specs.push_back({static_cast<std::int64_t>(i), {}});
  search::Listed strategy(std::move(specs));
  tuner.sweep(strategy);

  FakeTuning tuning(kSpecs);
  const auto service = tuning.service();
  const auto origin = tuning.host().now() - std::chrono::duration_cast<exec::FinalsRules::Clock::duration>(
                                                std::chrono::duration<double>(machine.now()));
  tuning.host().behave = [&](const FakeWorker& worker) {
    machine.wait_until(std::chrono::duration<double>(tuning.host().now() - origin).count());
    const platform::ResourceUse use = machine.run(work.at(static_cast<std::size_t>(worker.spec - 1)));
    FakeConduct conduct{.seconds = worker::seconds_with_a_core(use)};
    conduct.open = conduct.check = conduct.close = {};
    conduct.time = std::chrono::milliseconds(std::lround(use.seconds * 1e3));
    return conduct;
  };
  std::vector<wire::Contender> contenders;
  for (const wire::Contender& contender : tuning::choose_specs(tuner.trials(), plan, objective, std::nullopt, 5))
    contenders.push_back({{tuning.spec(contender.entrant.spec.mesh_idx + 1)}});
  const auto disturbed = tuning::disturbed_specs(tuner.trials(), plan, objective, std::nullopt);
  const auto left_out = std::ranges::count_if(disturbed, [&](const Trial* trial) {
    return std::ranges::none_of(contenders, [&](const wire::Contender& contender) {
      return contender.entrant.spec.mesh_idx == trial->spec.mesh_idx;
    });
  });
  double sweep = 0;
  for (const Trial& trial : tuner.trials()) sweep += trial.measure_seconds;
  const auto after = [begin = tuning.host().now()](double seconds) {
    return begin +
           std::chrono::duration_cast<exec::FinalsRules::Clock::duration>(std::chrono::duration<double>(seconds));
  };
  exec::FinalsRules finals_rules;
  finals_rules.seed = seed;
  finals_rules.end = after(FinalsSettings().seconds_after(sweep));
  finals_rules.end_of_first_rounds = after(kFirstRoundsSeconds);
  const Finals finals = exec::FinalsRunner(*service, contenders, finals_rules).run([](int, std::size_t) {});

  std::vector<Merit> merits;
  for (const Trial& trial : tuner.trials()) merits.push_back(objective.merit(trial.spec, *trial.measurement()));
  const Ranking ranking = rank(tuner.trials(), merits, &finals);
  const double won = work.at(static_cast<std::size_t>(ranking.rows.front().trial->spec.mesh_idx));
  const auto limit = after(std::max(FinalsSettings().seconds_after(sweep), kFirstRoundsSeconds));
  return {won <= 1.01 * *std::ranges::min_element(work), ranking.loss && *ranking.loss <= kAccuracy && left_out == 0,
          std::chrono::duration<double>(tuning.host().now() - limit).count()};
}

struct Counts {
  int right_and_sure = 0, silent_misses = 0, undecided = 0, too_long = 0;
};

Counts tune_often(const Load& load, int runs, std::uint64_t first_seed = 1) {
  Counts counts;
  for (int i = 0; i < runs; ++i) {
    const Outcome outcome = tune_under(load, first_seed + static_cast<std::uint64_t>(i));
    counts.right_and_sure += outcome.right && outcome.sure ? 1 : 0;
    counts.silent_misses += !outcome.right && outcome.sure ? 1 : 0;
    counts.undecided += outcome.sure ? 0 : 1;
    counts.too_long += outcome.over_limit > 1 ? 1 : 0;  // a turn may have begun before
  }
  return counts;
}

TEST(VerdictUnderLoad, IsRightAndSureOnAQuietMachine) {
  const Counts counts = tune_often(kNone, 100);
  EXPECT_EQ(counts.right_and_sure, 100);
  EXPECT_EQ(counts.too_long, 0);
}

TEST(VerdictUnderLoad, IsRightAndNearlyAlwaysSureBesideOtherPrograms) {
  for (const Load& load : {kBursts, kRareBursts, kBuild, kHeavy}) {
    const Counts counts = tune_often(load, 100);
    EXPECT_GE(counts.right_and_sure, 98) << load.gap << " s between bursts: " << counts.undecided << " undecided";
    EXPECT_EQ(counts.silent_misses, 0);
    EXPECT_EQ(counts.too_long, 0);
  }
}

}  // namespace
}  // namespace tune::verdict_loads_test

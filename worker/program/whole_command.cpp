#include "program/whole_command.h"

#include <algorithm>
#include <thread>

#include "measuring/measure.h"
#include "model/statistics/stats.h"
#include "platform/process/taken_cores.h"

namespace tune::worker {
namespace {

constexpr double kMostForPreparing = 4;   // times the seconds of the runs
constexpr double kShareOfDeadline = 0.8;  // after which no further run begins
constexpr double kVisibleWait = 0.02;     // of a run's time; one that nothing disturbed waits for less

/// The seconds that were spent in runs, or a part of all the seconds since `start` if that is more, so that the answer
/// comes in time.
double clock(double spent, double start, double max_seconds, const wire::Go& go) {
  double most = kMostForPreparing;
  if (go.answer_within > 0) most = std::clamp(kShareOfDeadline * go.answer_within / max_seconds, 1.0, most);
  return std::max(spent, (seconds_now() - start) / most);
}

}  // namespace

// Other threads may have gone on while the first one waited: no less than what all of them computed.
double seconds_with_a_core(const platform::ResourceUse& use) {
  if (use.waited_seconds < kVisibleWait * use.seconds) return use.seconds;
  return std::clamp(use.cpu_seconds, use.seconds - use.waited_seconds, use.seconds);
}

void WholeCommand::add_first(const platform::ResourceUse& use) {
  note(use);
  runs_before_ = 1;
}

double WholeCommand::run() {
  const double seconds = note(run_());
  spent_ += uses_.back().seconds;
  return seconds;
}

/// Returns the time that counts.
double WholeCommand::note(const platform::ResourceUse& use) {
  uses_.push_back(use);
  const double seconds = seconds_with_a_core(use);
  CoreUse& cores = core_uses_.emplace_back();
  cores.seconds = seconds;
  cores.computed = use.cpu_seconds;
  cores.first_computed = use.first_cpu_seconds;
  cores.others = platform::others_running();
  return seconds;
}

wire::Measured WholeCommand::measure(const wire::Go& go) {
  const platform::StolenTime stolen;
  const Timing timing = go.launches > 0 ? run_once() : sample(go);
  is_warm_ = true;
  const auto first = uses_.end() - std::min<std::ptrdiff_t>(timing.count, std::ssize(uses_));
  std::vector<double> user, system;
  std::int64_t peak = 0;
  for (auto use = first; use != uses_.end(); ++use) {
    user.push_back(use->user_seconds * 1e3);
    system.push_back(use->system_seconds * 1e3);
    peak = std::max(peak, use->peak_bytes);
  }
  const double clean = clean_seconds(core_uses_, std::thread::hardware_concurrency(), stolen.so_far(), go);
  uses_.clear();
  core_uses_.clear();
  const double mebibytes = static_cast<double>(peak) / (1 << 20);
  wire::Measured measured{timing, false, {}};
  measured.clean_seconds = clean;
  measured.metrics = {{kUserTime, median(user)}, {kSystemTime, median(system)}, {kPeakMemory, mebibytes}};
  return measured;
}

Timing WholeCommand::run_once() {
  while (!is_warm_ && runs_before_ < rules_.warmup) {
    run();
    ++runs_before_;
  }
  return summarize(std::vector<double>{run()}, false);
}

Timing WholeCommand::sample(const wire::Go& go) {
  const double start = seconds_now();
  spent_ = 0;
  const bool counts = runs_before_ == 0 && rules_.warmup == 0;
  const double first = runs_before_ > 0 ? seconds_with_a_core(uses_.back()) : run();
  const auto now = [&] { return clock(spent_, start, rules_.max_seconds, go); };
  return Sampler(rules_, go, [this] { return run(); }, now, {.counts = counts}).run(first);
}

}  // namespace tune::worker

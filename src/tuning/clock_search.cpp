#include "tuning/clock_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "model/device_setting.h"
#include "model/values/error.h"

namespace tune::tuning {
namespace {

constexpr std::int64_t kMostSpecs = 2'000'000;  // that are walked
constexpr std::size_t kFewestPilots = PowerModel::kFewest, kMostPilots = 12, kClocksPerPilot = 10;
constexpr double kRange = 0.05;  // on either side of the model's best clock

/// Whether it is the clock of what computes, on a GPU or a CPU.
bool is_clock(const Setting& setting) {
  const auto control = device_control(setting.name);
  return control == DeviceControl::sm_clock || control == DeviceControl::cpu_clock;
}

const Setting* clock_of(const Spec& spec) {
  const auto found = std::ranges::find_if(spec.params, is_clock);
  return found == spec.params.end() ? nullptr : &*found;
}

double mhz_of(const Setting& clock) { return static_cast<double>(std::get<std::int64_t>(clock.value)); }

bool differ_in_clock_alone(const Spec& a, const Spec& b) {
  return std::ranges::equal(a.params, b.params, [](const Setting& x, const Setting& y) {
    return x.name == y.name && (is_clock(x) || same(x.value, y.value));
  });
}

std::optional<ClockSample> sample_of(const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  const auto energy =
      measurement == nullptr ? std::map<std::string, double>::const_iterator() : measurement->metrics.find("energy");
  if (measurement == nullptr || energy == measurement->metrics.end()) return std::nullopt;
  const double seconds = measurement->timing.median;
  return ClockSample{mhz_of(*clock_of(trial.spec)), seconds, energy->second / seconds};
}

/// `count` of them, spread evenly from the first to the last.
std::vector<Spec> spread(const std::vector<Spec>& all, std::size_t count) {
  if (count >= all.size()) return all;
  std::vector<Spec> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[(i * (all.size() - 1) + (count - 1) / 2) / (count - 1)]);
  return chosen;
}

}  // namespace

ClockSearch::ClockSearch(ValidSpecs specs, const std::optional<Spec>& pilot, const Objective& objective, Search search,
                         Say say)
    : specs_(std::move(specs)), objective_(&objective), search_(std::move(search)), say_(std::move(say)) {
  if (specs_.size() > kMostSpecs)
    throw Error(ExitCode::bad_input,
                fmt::format("--clocks auto walks all specs, and there are more than {}; choose some with --filter",
                            kMostSpecs));
  const Spec first = pilot ? *pilot : specs_.spec(0);
  if (clock_of(first) == nullptr)
    throw Error(ExitCode::bad_input,
                "--clocks auto chooses among the values of the parameter $device.sm_clock, or $device.cpu_clock on a "
                "CPU, and there is none; give it the clocks of the device, such as {range: [210, 1980, 15]}");
  if (objective.energy(true) != MeasureRules::Energy::always)
    throw Error(ExitCode::bad_input,
                fmt::format("--clocks auto needs an objective that energy is part of, and {} is not; "
                            "give --objective GFLOPS/W, energy, edp or ed2p",
                            objective.name()));
  choose_pilots(first);
}

void ClockSearch::choose_pilots(const Spec& pilot) {
  std::vector<Spec> alike;
  for (std::int64_t i = 0; i < specs_.size(); ++i)
    if (Spec spec = specs_.spec(i); differ_in_clock_alone(spec, pilot)) alike.push_back(std::move(spec));
  std::ranges::sort(alike, {}, [](const Spec& spec) { return mhz_of(*clock_of(spec)); });
  pilots_ = spread(alike, std::clamp(alike.size() / kClocksPerPilot, kFewestPilots, kMostPilots));
}

std::optional<Spec> ClockSearch::ask() {
  if (asked_ < pilots_.size()) return pilots_[asked_++];
  if (told_.size() < pilots_.size()) return std::nullopt;
  if (!inner_) choose_clocks();
  for (;;) {
    std::optional<Spec> next = inner_->ask();
    const auto known =
        std::ranges::find_if(told_, [&](const Trial& trial) { return next && trial.spec.mesh_idx == next->mesh_idx; });
    if (known == told_.end()) return next;
    inner_->tell(*known);
  }
}

void ClockSearch::tell(const Trial& trial) {
  if (inner_)
    inner_->tell(trial);
  else
    told_.push_back(trial);
}

void ClockSearch::choose_clocks() {
  const std::vector<std::int64_t> clocks = promising_clocks();
  std::vector<Space::Point> points;
  for (std::int64_t i = 0; i < specs_.size(); ++i) {
    const Space::Point point = specs_.at(i);
    const Spec spec = specs_.spec(point);
    const Setting* clock = clock_of(spec);
    if (clock == nullptr || std::ranges::find(clocks, std::get<std::int64_t>(clock->value)) != clocks.end())
      points.push_back(point);
  }
  inner_ = search_(ValidSpecs(specs_.space(), std::move(points)));
}

std::vector<std::int64_t> ClockSearch::all_clocks() const {
  std::set<std::int64_t> clocks;
  for (std::int64_t i = 0; i < specs_.size(); ++i) {
    const Spec spec = specs_.spec(i);
    if (const Setting* clock = clock_of(spec)) clocks.insert(std::get<std::int64_t>(clock->value));
  }
  return {clocks.begin(), clocks.end()};
}

std::vector<std::int64_t> ClockSearch::promising_clocks() {
  std::vector<std::int64_t> clocks = all_clocks();
  const std::size_t all = clocks.size();
  std::vector<ClockSample> samples;
  for (const Trial& trial : told_)
    if (const auto sample = sample_of(trial)) samples.push_back(*sample);
  const auto model = PowerModel::fit(samples);
  if (!model) {
    say_(fmt::format("--clocks auto: only {} of {} clocks could be measured, too few for a model; all are searched",
                     samples.size(), pilots_.size()));
    return clocks;
  }
  const double best = best_clock(*model, clocks);
  std::erase_if(clocks,
                [&](std::int64_t clock) { return std::abs(static_cast<double>(clock) - best) > kRange * best; });
  say_(fmt::format(
      "--clocks auto: by {} clocks of spec {}, power is {:.0f} W and {:.3g} W/MHz, more beyond {:.0f} MHz (within "
      "{:.1f} "
      "%); {} is best at {:.0f} MHz; the clocks from {} to {} MHz are searched, {} of {}",
      samples.size(), pilots_.front().mesh_idx, model->static_watts(), model->watts_per_mhz(), model->ridge_mhz(),
      100 * model->error(), objective_->name(), best, clocks.front(), clocks.back(), clocks.size(), all));
  return clocks;
}

// The model knows time and energy, of which every objective that is allowed here can be computed.
double ClockSearch::best_clock(const PowerModel& model, const std::vector<std::int64_t>& clocks) const {
  double best = static_cast<double>(clocks.front()), least = std::numeric_limits<double>::infinity();
  for (const std::int64_t clock : clocks) {
    const auto mhz = static_cast<double>(clock);
    Measurement expected;
    expected.timing.median = model.seconds(mhz);
    expected.metrics["energy"] = model.watts(mhz) * model.seconds(mhz);
    Spec spec = pilots_.front();
    for (Setting& setting : spec.params)
      if (is_clock(setting)) setting.value = clock;
    const Merit merit = objective_->merit(spec, expected);
    const double cost = merit.maximize ? -merit.value : merit.value;
    if (!(cost < least)) continue;
    least = cost;
    best = mhz;
  }
  return best;
}

}  // namespace tune::tuning

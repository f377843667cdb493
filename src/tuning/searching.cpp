#include "tuning/searching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "model/cost/power_model.h"
#include "model/device_setting.h"
#include "model/values/error.h"
#include "search/strategies.h"

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

/// `--clocks auto`: one spec is measured at a few clocks, a model of its time and power is fitted to that, and only the
/// clocks near the best one by the model are searched for all specs.
class ClockSearch : public search::Strategy {
 public:
  /// The strategy over the specs that are left.
  using Search = std::function<std::unique_ptr<search::Strategy>(ValidSpecs)>;
  /// Told what the model says, in sentences.
  using Say = std::function<void(const std::string&)>;

  /// The spec that is measured is `pilot`, or the first one. `objective` must outlive this. Throws Error(bad_input) if
  /// no parameter is an SM clock, or if the objective is not computed from energy.
  ClockSearch(ValidSpecs specs, const std::optional<Spec>& pilot, const Objective& objective, Search search, Say say)
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

  std::optional<Spec> ask() override {
    if (asked_ < pilots_.size()) return pilots_[asked_++];
    if (told_.size() < pilots_.size()) return std::nullopt;
    if (!inner_) choose_clocks();
    for (;;) {
      std::optional<Spec> next = inner_->ask();
      const auto known = std::ranges::find_if(
          told_, [&](const Trial& trial) { return next && trial.spec.mesh_idx == next->mesh_idx; });
      if (known == told_.end()) return next;
      inner_->tell(*known);
    }
  }

  void tell(const Trial& trial) override {
    if (inner_)
      inner_->tell(trial);
    else
      told_.push_back(trial);
  }

 private:
  void choose_pilots(const Spec& pilot) {
    std::vector<Spec> alike;
    for (std::int64_t i = 0; i < specs_.size(); ++i)
      if (Spec spec = specs_.spec(i); differ_in_clock_alone(spec, pilot)) alike.push_back(std::move(spec));
    std::ranges::sort(alike, {}, [](const Spec& spec) { return mhz_of(*clock_of(spec)); });
    pilots_ = spread(alike, std::clamp(alike.size() / kClocksPerPilot, kFewestPilots, kMostPilots));
  }

  void choose_clocks() {
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

  std::vector<std::int64_t> all_clocks() const {
    std::set<std::int64_t> clocks;
    for (std::int64_t i = 0; i < specs_.size(); ++i) {
      const Spec spec = specs_.spec(i);
      if (const Setting* clock = clock_of(spec)) clocks.insert(std::get<std::int64_t>(clock->value));
    }
    return {clocks.begin(), clocks.end()};
  }

  std::vector<std::int64_t> promising_clocks() {
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
  double best_clock(const PowerModel& model, const std::vector<std::int64_t>& clocks) const {
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
      const double cost = merit.cost();
      if (!(cost < least)) continue;
      least = cost;
      best = mhz;
    }
    return best;
  }

  ValidSpecs specs_;
  const Objective* objective_;
  Search search_;
  Say say_;
  std::vector<Spec> pilots_;  ///< by clock
  std::size_t asked_ = 0;     ///< of the pilots
  std::vector<Trial> told_;   ///< of the pilots
  std::unique_ptr<search::Strategy> inner_;
};

std::optional<double> cost_of(const Objective& objective, const Trial& trial) {
  const auto merit = objective.merit(trial);
  return merit ? std::optional(merit->cost()) : std::nullopt;
}

search::StrategyChoice choice_of(const SearchSettings& settings) {
  return settings.strategy ? *settings.strategy : search::strategies().front();
}

std::unique_ptr<search::Strategy> only_spec(std::int64_t mesh_idx, const Space& space) {
  const auto size = space.product_size();
  if (mesh_idx < 0 || (size && mesh_idx >= *size))
    throw Error(
        ExitCode::bad_input,
        fmt::format("--spec {}: there is no such mesh_idx; the grid has {} points, from 0 on, and --dry-run lists "
                    "the valid ones",
                    mesh_idx, points_text(space)));
  const auto point = space.at(mesh_idx);
  if (const auto* rejection = std::get_if<Rejection>(&point))
    throw Error(ExitCode::none_valid,
                fmt::format("--spec {} is pruned: {}; --dry-run lists the valid specs", mesh_idx, rejection->reason));
  return std::make_unique<search::Listed>(std::deque{std::get<Spec>(point)});
}

std::vector<Spec> default_of(const Grid& grid, bool wanted) {
  return wanted && grid.default_spec ? std::vector{*grid.default_spec} : std::vector<Spec>();
}

/// Bytes per second; 0: not known.
double bandwidth_of(const Device& device) {
  const auto found = device.properties.find("memory_bandwidth");
  return found == device.properties.end() ? 0 : number_of(found->second).value_or(0);
}

}  // namespace

bool wants_search(const SearchSettings& settings, std::optional<std::int64_t> size) {
  if (settings.spec) return false;
  if (settings.strategy) return settings.strategy->name != "exhaustive";
  return settings.time_budget || (settings.max_evals && (!size || *settings.max_evals < *size));
}

std::optional<CostModel> model_for(const SearchSettings& settings, const Plan& plan, const Device& device) {
  const search::StrategyChoice choice = choice_of(settings);
  if (!Objective(plan).by_time() || choice.name != "auto" || choice.option("model") == 0) return std::nullopt;
  return CostModel::of(plan, device);
}

search::Predict seconds_by(const CostModel& model, const ValidSpecs& specs) {
  return [model, &specs](const search::Point& point) -> std::optional<double> {
    const auto prediction = model.predict(specs.spec(point));
    return prediction ? std::optional(prediction->seconds) : std::nullopt;
  };
}

std::unique_ptr<search::Strategy> make_strategy(const SearchSettings& settings, ValidSpecs specs,
                                                std::vector<Spec> first, const Objective& objective,
                                                const std::optional<CostModel>& model) {
  auto all = std::make_unique<const ValidSpecs>(std::move(specs));
  std::unique_ptr<search::Prior> prior;
  if (model) prior = std::make_unique<search::Prior>(*all, seconds_by(*model, *all));
  auto search = search::make_search(choice_of(settings), *all, settings.seed, prior.get());
  return std::make_unique<search::SpecSearch>(std::move(all), std::move(prior), std::move(search), std::move(first),
                                              [&objective](const Trial& trial) { return cost_of(objective, trial); });
}

std::unique_ptr<search::Strategy> at_chosen_clocks(const SearchSettings& settings, ValidSpecs specs,
                                                   const std::optional<Spec>& pilot, const Objective& objective,
                                                   std::function<void(const std::string&)> say) {
  const auto among = [settings, &objective](ValidSpecs left) -> std::unique_ptr<search::Strategy> {
    if (wants_search(settings, left.size())) return make_strategy(settings, std::move(left), {}, objective);
    std::deque<Spec> listed;
    for (std::int64_t i = 0; i < left.size(); ++i) listed.push_back(left.spec(i));
    return std::make_unique<search::Listed>(std::move(listed));
  };
  return std::make_unique<ClockSearch>(std::move(specs), pilot, objective, among, std::move(say));
}

std::unique_ptr<search::Strategy> strategy_for(const SearchSettings& settings, bool default_first,
                                               std::span<const Spec> first, const Plan& plan,
                                               const std::optional<Grid>& grid, const Objective& objective,
                                               const std::function<const Device&()>& device,
                                               std::function<void(const std::string&)> say) {
  if (settings.spec) return only_spec(*settings.spec, plan.space);
  if (settings.auto_clocks)
    return at_chosen_clocks(settings, grid->specs, grid->default_spec, objective, std::move(say));
  const bool searches = wants_search(settings, grid->specs.size());
  const auto model = searches ? model_for(settings, plan, device()) : std::nullopt;
  std::vector<Spec> order = default_of(*grid, default_first);
  // A model knows more than the winners of other shapes, but for what the nearest one tells of the kernel.
  const bool knows = model && !first.empty() && model->predict(first.front());
  for (const Spec& spec : first.first(knows ? 1 : first.size()))
    if (std::ranges::find(order, spec.mesh_idx, &Spec::mesh_idx) == order.end()) order.push_back(spec);
  if (searches) return make_strategy(settings, grid->specs, std::move(order), objective, model);
  return std::make_unique<search::Exhaustive>(grid->specs, std::move(order));
}

std::unique_ptr<search::Strategy> in_mesh_order(const std::optional<std::int64_t>& spec, bool default_first,
                                                const Plan& plan, const std::optional<Grid>& grid) {
  if (spec) return only_spec(*spec, plan.space);
  return std::make_unique<search::Exhaustive>(grid->specs, default_of(*grid, default_first));
}

double merit_near_memory_bound(double share, const Plan& plan, const Objective& objective, const Device& device) {
  const double bytes = bytes_of(plan.problem), bandwidth = bandwidth_of(device);
  if (!objective.follows_time() || bandwidth <= 0 || bytes <= 0)
    throw Error(ExitCode::bad_input,
                "--stop-within needs to know the best there can be: for the objectives time and gflops of a problem "
                "with known bytes on a device with a known memory_bandwidth, and in --simulate; --time-budget ends a "
                "run otherwise");
  const double seconds = bytes / bandwidth;
  return objective.maximize() ? flops_of(plan.problem) / seconds / 1e9 * (1 - share) : seconds / (1 - share);
}

}  // namespace tune::tuning

#pragma once
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/statistics/stats.h"

namespace tune::exec {

/// Makes the times of several devices comparable, because those of one model differ by a few per cent. One of them is
/// the anchor. Every other one times a few specs that the anchor times, the calibration specs, and the median of the
/// ratios of the anchor's times to its own is its factor, by which its times are to be multiplied. Until that is known,
/// its results are held back here.
///
/// Who owns this chooses the specs and gives them to the devices: one spec where these are of one machine, several for
/// a cluster, whose machines differ in more. There an agent counts as one device, the first that it has.
template <typename Result>
class Calibration {
 public:
  /// Of a calibration spec on a device: its time in seconds, or why it could not be timed.
  using Outcome = std::variant<double, std::string>;

  explicit Calibration(std::size_t devices) : states_(devices), held_(devices) {}

  /// From now on the device is what others are compared with. Its own factor is 1.
  void set_anchor(std::size_t device) {
    anchor_ = device;
    states_[device] = Known{1};
  }
  std::optional<std::size_t> anchor() const { return anchor_; }

  /// Sets the calibration specs, by their times on the anchor in seconds; unset: it has not timed that one yet. Called
  /// again when it has. A device that is given none has the factor 1: there is nothing to compare by.
  void set_specs(std::vector<std::optional<double>> seconds) {
    specs_ = std::move(seconds);
    for (State& state : states_) compare(state);
  }
  /// There are no calibration specs any more, and no device times any.
  void drop_specs() {
    specs_.clear();
    for (std::size_t i = 0; i < states_.size(); ++i) take_back(i);
  }
  bool has_specs() const { return !specs_.empty(); }
  /// Whether the anchor has timed all of them.
  bool specs_are_timed() const {
    return std::ranges::all_of(specs_, [](const auto& seconds) { return seconds.has_value(); });
  }

  /// Notes that the device has been given the calibration specs.
  void give(std::size_t device) {
    states_[device] = Timing{};
    compare(states_[device]);
  }
  /// Notes that the device times them no longer, and will have to begin again.
  void take_back(std::size_t device) {
    if (std::holds_alternative<Timing>(states_[device])) states_[device] = Waiting{};
  }
  /// Notes what came of one of them. Ignored if the device does not have them.
  void note(std::size_t device, std::size_t spec, Outcome outcome) {
    if (auto* timing = std::get_if<Timing>(&states_[device])) timing->outcomes[spec] = std::move(outcome);
    compare(states_[device]);
  }

  /// Whether the device has yet to be given the calibration specs.
  bool waits(std::size_t device) const { return std::holds_alternative<Waiting>(states_[device]); }
  bool known(std::size_t device) const { return std::holds_alternative<Known>(states_[device]); }
  /// 1 until it is known.
  double factor(std::size_t device) const { return known(device) ? std::get<Known>(states_[device]).factor : 1; }
  /// Why there will be no factor: the device could time none of what the anchor has timed. Null: that is not so.
  const std::string* failure(std::size_t device) const {
    const auto* failed = std::get_if<Failed>(&states_[device]);
    return failed != nullptr ? &failed->why : nullptr;
  }

  void hold(std::size_t device, Result result) { held_[device].push_back(std::move(result)); }
  const std::vector<Result>& held(std::size_t device) const { return held_[device]; }
  std::vector<Result> take_held(std::size_t device) { return std::exchange(held_[device], {}); }

 private:
  struct Waiting {};
  struct Timing {
    std::map<std::size_t, Outcome> outcomes;  ///< of the calibration specs that it has timed
  };
  struct Known {
    double factor;
  };
  struct Failed {
    std::string why;
  };
  using State = std::variant<Waiting, Timing, Known, Failed>;

  void compare(State& state) const {
    const auto* timing = std::get_if<Timing>(&state);
    if (timing == nullptr || timing->outcomes.size() < specs_.size() || !specs_are_timed()) return;
    std::vector<double> ratios;
    std::string why;
    for (const auto& [spec, outcome] : timing->outcomes) {
      if (const double* seconds = std::get_if<double>(&outcome)) ratios.push_back(*specs_[spec] / *seconds);
      if (const auto* failure = std::get_if<std::string>(&outcome)) why = *failure;
    }
    if (ratios.empty() && !specs_.empty())
      state = Failed{std::move(why)};
    else
      state = Known{ratios.empty() ? 1 : median(std::move(ratios))};
  }

  std::optional<std::size_t> anchor_;
  std::vector<std::optional<double>> specs_;  ///< their times on the anchor
  std::vector<State> states_;                 ///< of each device
  std::vector<std::vector<Result>> held_;     ///< likewise
};

}  // namespace tune::exec

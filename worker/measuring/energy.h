#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "sensors/monitor.h"
#include "wire/messages.h"

namespace tune::worker {

/// How much energy one launch takes, from a counter of the device, which on GPUs steps only about ten
/// times a second. Knows
/// neither devices nor clocks: both are functions, so that a test decides what a launch takes.
///
/// The kernel is launched without pause. The figure is the energy between two steps of the counter over the launches
/// between them, so that it holds whole steps only; what the device takes up to the first step, when it may still be
/// coming out of idleness, does not count.
class EnergyMeter {
 public:
  using Seconds = std::function<double()>;
  static constexpr double kWindow = 1;      ///< seconds between the two steps, if nothing ends it earlier
  static constexpr double kPatience = 3;    ///< seconds without a step after which there is no figure
  static constexpr double kBatch = 0.01;    ///< seconds between two looks at the counter, which take some ms each
  static constexpr int kStepsToGiveUp = 3;  ///< whole steps that suffice to call a kernel hopeless, if they take
  static constexpr double kSecondsToGiveUp = 0.25;  ///< this long

  struct Result {
    double joules = 0;      ///< per launch
    double half_width = 0;  ///< of its 95 % interval, from how much the steps differ; 0: there were too few
    std::int64_t launches = 0;
    bool stopped_early = false;  ///< more than the limit, and so measured no longer than that took to see
  };

  /// `launch` starts this many launches and waits for those of the previous call, so that the device is never idle.
  /// `counter` is in joules, `now` and `batch` in seconds.
  EnergyMeter(std::function<void(std::int64_t)> launch, std::function<std::optional<double>()> counter, Seconds now,
              double batch = kBatch);

  /// `launch_seconds` is what one launch takes. `limit`: joules per launch beyond which the kernel is of no interest;
  /// 0: none. nullopt: the counter does not answer or does not step.
  std::optional<Result> run(double launch_seconds, double limit) const;

 private:
  std::function<void(std::int64_t)> launch_;
  std::function<std::optional<double>()> counter_;
  Seconds now_;
  double batch_;
};

/// The time beyond which no kernel can take less than `best_joules`, because a device that runs a kernel takes at least
/// a tenth of the power it is held to (an idle H200 with a context takes a sixth).
double hopeless_seconds(double best_joules, double power_limit_w);

/// Why a kernel has no energy.
inline constexpr const char* kNeedsRestoring =
    "it takes launches without a pause, and this kernel reads what it overwrites";
inline constexpr const char* kCounterStands = "the device's counter does not answer, or stands still";

/// Which of the measurements of one spec have energy, what becomes of it, and why there is none: on every device alike.
class EnergyRounds {
 public:
  explicit EnergyRounds(MeasureRules::Energy rule = MeasureRules::Energy::never) : rule_(rule) {}

  /// Whether energy is to be measured now. Where no objective needs it, only a few rounds of the finals have it,
  /// because it takes a second.
  bool begin(const wire::Go& go, const wire::Measured& measured);
  /// There is none, and `why`: throws SpecFailure if it is the objective; else the last of the rounds remarks it.
  void do_without(const std::string& why, wire::Measured& measured) const;
  /// `clock_mhz` is the device's at the end; 0: it is not known.
  void note(const EnergyMeter::Result& energy, double clock_mhz, wire::Measured& measured);

 private:
  MeasureRules::Energy rule_;
  int rounds_ = 0;
  bool told_ = false;  ///< in one of these rounds
};

/// Where energy decides, slowness alone rules a kernel out only if even the least power would be too much. `monitor`
/// may be null.
wire::Go with_time_limit(wire::Go go, double cutoff, const Monitor* monitor);

}  // namespace tune::worker

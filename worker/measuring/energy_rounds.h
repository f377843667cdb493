#pragma once
#include <string>

#include "measuring/energy.h"
#include "sensors/monitor.h"
#include "wire/messages.h"

namespace tune::worker {

/// Why a kernel has no energy.
inline constexpr const char* kNeedsRestoring =
    "it takes launches without a pause, and this kernel reads what it overwrites";
inline constexpr const char* kCounterStands = "the device's counter does not answer, or stands still";

/// Which of the measurements of one spec have energy, what becomes of it, and why there is none: on every device alike.
class EnergyRounds {
 public:
  explicit EnergyRounds(MeasureRules::Energy rule = MeasureRules::Energy::never) : rule_(rule) {}

  /// Whether energy is to be measured now. Of the finals, a few rounds have it, because it takes a second.
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

#include "measuring/energy_rounds.h"

#include "backend.h"

namespace tune::worker {
namespace {

constexpr int kEnergyRounds = 3;  // of the finals

}  // namespace

bool EnergyRounds::begin(const wire::Go& go, const wire::Measured& measured) {
  using Energy = MeasureRules::Energy;
  const bool wanted = rule_ == Energy::always || (rule_ == Energy::finals && go.launches > 0);
  return wanted && !measured.timing.stopped_early && rounds_++ < kEnergyRounds;
}

void EnergyRounds::do_without(const std::string& why, wire::Measured& measured) const {
  const std::string text = "energy is not measured: " + why;
  if (rule_ == MeasureRules::Energy::always) throw SpecFailure(Stage::measure, text);
  if (rounds_ == kEnergyRounds && !told_) measured.remarks.push_back(text);
}

void EnergyRounds::note(const EnergyMeter::Result& energy, double clock_mhz, wire::Measured& measured) {
  told_ = true;
  measured.metrics["energy"] = energy.joules;
  if (energy.half_width > 0) measured.metrics["energy_error"] = energy.half_width;
  if (clock_mhz > 0) measured.metrics["energy_clock_mhz"] = clock_mhz;
  measured.timing.stopped_early = energy.stopped_early;
}

wire::Go with_time_limit(wire::Go go, double cutoff, const Monitor* monitor) {
  if (go.best_joules <= 0 || cutoff <= 0) return go;
  const auto limit = monitor != nullptr ? monitor->power_limit_w() : std::nullopt;
  if (limit) go.best_seconds = hopeless_seconds(go.best_joules, *limit) / cutoff;
  return go;
}

}  // namespace tune::worker

#include "exec/process/stage_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace tune::exec {
namespace {

/// About how many seconds of the sweep went into opening GPUs: their driver opens them for one process after the other,
/// and nothing is timed meanwhile. 0 unless each spec has its own process.
double opening_seconds(const Usage& usage) {
  if (usage.opening_at_once == 0) return 0;
  const double opening = (usage.stages.of(Stage::start) + usage.stages.of(Stage::load)) / usage.opening_at_once;
  return std::clamp(usage.sweep_seconds - usage.stages.of(Stage::measure) / usage.devices, 0.0, opening);
}

}  // namespace

std::string to_text(const Usage& usage) {
  const double opening = opening_seconds(usage);
  const auto seconds = [&](Stage stage) { return usage.stages.of(stage); };
  const std::string busy =
      usage.programs ? fmt::format("programs {:.1f} s", seconds(Stage::check) + seconds(Stage::measure))
                     : fmt::format("check {:.1f} s, measure {:.1f} s", seconds(Stage::check), seconds(Stage::measure));
  return fmt::format(
      "time spent: {}, {} {:.1f} s{}; beside that, in parallel: build {:.1f} s, load {:.1f} s{}", busy,
      usage.devices == 1 ? "nothing to run" : fmt::format("{} devices idle", usage.devices), usage.idle_seconds,
      usage.finals_seconds > 0 ? fmt::format(", finals {:.1f} s", usage.finals_seconds) : "", seconds(Stage::build),
      seconds(Stage::start) + seconds(Stage::load),
      opening > usage.sweep_seconds / 2
          ? fmt::format(
                "; --isolation auto would save most of the {:.1f} s in which each spec's process opened the GPU",
                opening)
          : "");
}

}  // namespace tune::exec

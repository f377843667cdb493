#include "exec/spent.h"

#include <fmt/format.h>

namespace tune {

std::string to_text(const Usage& usage) {
  const auto seconds = [&](Stage stage) { return usage.spent.of(stage); };
  return fmt::format(
      "time spent: check {:.1f} s, measure {:.1f} s, {} idle {:.1f} s{}; beside that, in parallel: build {:.1f} s, "
      "load {:.1f} s",
      seconds(Stage::check), seconds(Stage::measure),
      usage.devices == 1 ? "device" : fmt::format("{} devices", usage.devices), usage.idle_seconds,
      usage.finals_seconds > 0 ? fmt::format(", finals {:.1f} s", usage.finals_seconds) : "", seconds(Stage::build),
      seconds(Stage::start) + seconds(Stage::load));
}

}  // namespace tune

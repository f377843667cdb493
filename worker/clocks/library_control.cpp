#include "clocks/library_control.h"

#include <fmt/format.h>

namespace tune::worker {

void LibraryControl::require(const char* name, int status) const {
  using Why = wire::Refused::Why;
  if (status == 0) return;
  const std::string text = text_of(status);
  const std::string why = fmt::format("{}: {}", name, text.empty() ? fmt::format("error {}", status) : text);
  if (status == errors_.no_permission)
    throw ClockRefusal{{Why::permission, fmt::format("{}; {}", why, errors_.permission_advice)}};
  throw ClockRefusal{{status == errors_.lost ? Why::lost : Why::other, why}};
}

}  // namespace tune::worker

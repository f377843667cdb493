#include "model/trial.h"

#include <algorithm>
#include <array>

namespace tune {
namespace {

constexpr std::array<std::string_view, 5> kStages = {"start", "build", "load", "check", "measure"};
constexpr std::array<std::string_view, 4> kCauses = {"reported", "crashed", "timed out", "protocol"};

template <class Enum, std::size_t size>
std::optional<Enum> parse(const std::array<std::string_view, size>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view to_text(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }
std::string_view to_text(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }
std::optional<Stage> parse_stage(std::string_view text) { return parse<Stage>(kStages, text); }
std::optional<Cause> parse_cause(std::string_view text) { return parse<Cause>(kCauses, text); }

}  // namespace tune

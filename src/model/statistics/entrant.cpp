#include "model/statistics/entrant.h"

namespace tune {

std::string name_of_fastest(const std::string& first) { return first + " best"; }

std::string label_of(const Entrant& entrant) { return entrant.is_spec() ? "" : entrant.name; }

Entrant entrant_of(const std::string& label) {
  using enum Entrant::Kind;
  const std::string vendor = "vendor";
  const Entrant::Kind kind = label.empty()                      ? spec
                             : label == vendor                  ? vendor_first
                             : label == name_of_fastest(vendor) ? vendor_fastest
                                                                : baseline;
  return {{}, kind, label};
}

}  // namespace tune

#include "model/statistics/entrant.h"

namespace tune {

std::string label_of(const Entrant& entrant) { return entrant.is_spec() ? "" : entrant.name; }

Entrant entrant_of(const std::string& label) {
  using enum Entrant::Kind;
  const Entrant::Kind kind = label.empty()            ? spec
                             : label == "vendor"      ? vendor_first
                             : label == "vendor best" ? vendor_fastest
                                                      : baseline;
  return {{}, kind, label};
}

}  // namespace tune

#pragma once
#include <cstdint>
#include <string>

#include "model/space.h"

namespace tune {

/// Who takes part in the finals, and whose results are shown.
struct Entrant {
  /// `current_default`: the configuration in use today, which is a spec too. `baseline`: a point that the tuning file
  /// gives, or an earlier result. The vendor's library is timed by the algorithm that it takes first, and by the
  /// fastest that it offers. `best`: where two results are compared, the best spec of each.
  enum class Kind { spec, current_default, baseline, vendor_first, vendor_fastest, best };

  Spec spec = {};  ///< no params for the vendor
  Kind kind = Kind::spec;
  std::string name = {};  ///< "vendor", "baseline", a best.yaml's name; specs are called after their params

  /// Whether it can win; all others are what the winner is compared with.
  bool is_spec() const { return kind == Kind::spec || kind == Kind::current_default; }
  bool is(std::int64_t mesh_idx) const { return is_spec() && spec.mesh_idx == mesh_idx; }
  bool is_default() const { return kind == Kind::current_default; }
  bool is_vendor() const { return kind == Kind::vendor_first || kind == Kind::vendor_fastest; }
};

/// What the vendor's library is called by the fastest of its algorithms, where `first` names it by the first.
std::string name_of_fastest(const std::string& first);

/// What records have instead of the kind: a name, and nothing for specs.
std::string label_of(const Entrant& entrant);
/// The entrant of such a label, without its spec; whether it is the default is not in the label either.
Entrant entrant_of(const std::string& label);

}  // namespace tune

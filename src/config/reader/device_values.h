#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/reader/load.h"
#include "config/reader/symbol_table.h"

namespace tune::config {

/// What `device.*` is in expressions: what the device tells, or `device_defaults` of the tuning file. Names are without
/// `device.`.
using DeviceDefaults = std::map<std::string, Value>;

DeviceDefaults read_device_defaults(const Node& node, Backend backend, const SymbolTable& scope,
                                    Diagnostics& diagnostics);

/// Who knows the values of names that are the same for all specs.
struct FixedValueSources {
  const Plan& plan;
  const LoadOptions& options;
  const DeviceDefaults& defaults;
};
/// The values of the scope's names as far as `names` has them. Throws Error(environment) if an expression needs what no
/// device tells.
std::vector<Value> fixed_values(const SymbolTable& scope, const Names& names, const FixedValueSources& sources);

}  // namespace tune::config

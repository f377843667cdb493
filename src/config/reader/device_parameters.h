#pragma once
#include <optional>
#include <vector>

#include "config/yaml/node.h"
#include "config/yaml/params.h"
#include "model/device.h"

namespace tune::config {

/// Parameters that set the clocks or the power limit of a device (model/device_setting.h) are run-time parameters, with
/// or without `$`. Reports those that nothing can be set by: of an unknown name, of a value that is no whole number, or
/// on a backend whose device does not have it. `params` is the section that `mappings` were read from; an unset
/// `backend` is not known.
void check_device_parameters(const Node& params, std::optional<Backend> backend,
                             std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics);

}  // namespace tune::config

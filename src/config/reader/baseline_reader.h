#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "config/yaml/node.h"
#include "config/yaml/params.h"
#include "model/plan.h"

namespace tune::config {

/// Reads `baseline:`: vendor, a mapping of parameters, a best.yaml's path, or a list of these. `has_vendor`: the
/// problem is one that vendor libraries have a routine for.
std::vector<Baseline> read_baselines(const Node& node, const std::filesystem::path& folder,
                                     const std::vector<ParameterMapping>& mappings, bool has_vendor,
                                     Diagnostics& diagnostics);

/// Reads a mapping of one value for every parameter of one mapping of the union, in its order. Complains of a
/// parameter that is missing or unknown.
std::vector<Setting> read_point(const Node& node, std::string_view what, const std::vector<ParameterMapping>& mappings,
                                Diagnostics& diagnostics);

/// Reads `default:`: one value for some of the parameters.
std::vector<Setting> read_default(const Node& node, const std::vector<ParameterMapping>& mappings,
                                  Diagnostics& diagnostics);
/// Where `default:` stands; empty if the command line has replaced values of its parameters.
std::string place_of_default(const Node& node, const Node& params);

}  // namespace tune::config

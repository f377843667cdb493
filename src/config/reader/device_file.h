#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/node.h"
#include "model/device.h"

namespace tune::config {

/// Reads what write_device wrote, or a hand-written file of the same form: {name, driver, arch, properties}.
/// Throws Error(bad_input).
Device read_device(const std::filesystem::path& path);

/// The file that --device-file means: `named` if there is such a file or if it cannot be a name, else NAME.yaml in
/// `folder`, which has files of known devices. Throws Error(bad_input), with the known names, if there is neither.
std::filesystem::path find_device_file(const std::filesystem::path& named, const std::filesystem::path& folder);

/// The names of the files in this folder whose devices fit.
std::vector<std::string> known_devices(const std::filesystem::path& folder,
                                       const std::function<bool(const Device&)>& fits);

/// The scalars of a mapping by name. Complains of anything else, calling the mapping `what`.
std::map<std::string, Value> read_properties(const Node& node, std::string_view what, Diagnostics& diagnostics);

/// A device as the YAML of --device-file.
std::string write_device(const Device& device);

}  // namespace tune::config

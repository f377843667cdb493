#pragma once
#include <filesystem>
#include <string>

#include "model/device.h"

namespace tune {

/// Reads what write_device wrote, or a hand-written file of the same form: {name, driver, arch, properties}.
/// Throws Error(bad_input).
Device read_device(const std::filesystem::path& path);

/// A device as the YAML of --device-file.
std::string write_device(const Device& device);

}  // namespace tune

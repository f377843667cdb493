#pragma once
#include <filesystem>

namespace tune::platform {

/// Whether the file system of this folder has no room for one more small file. False if that cannot be told.
bool is_full(const std::filesystem::path& folder);

}  // namespace tune::platform

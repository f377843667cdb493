#pragma once
#include <filesystem>
#include <string>

namespace tune::recording {

/// The bytes of a file, uncompressed if it starts as gzip or bzip2 does. Throws Error(bad_input) if it cannot be read,
/// or is compressed and damaged or cut short.
std::string read_text(const std::filesystem::path& path);
/// Whether a file starts as gzip or bzip2 does. False if it cannot be opened.
bool is_compressed(const std::filesystem::path& path);

}  // namespace tune::recording

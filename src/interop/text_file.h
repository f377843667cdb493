#pragma once
#include <filesystem>
#include <string>

namespace tune {

/// The bytes of a file, uncompressed if it starts as gzip or bzip2 does; of a compressed file that is cut off, what
/// stands before the cut. Throws Error(bad_input) if it cannot be read.
std::string read_text(const std::filesystem::path& path);

}  // namespace tune

#pragma once
#include <filesystem>
#include <vector>

#include "model/trial.h"

namespace tune::exec {

/// Copies files into a folder, which is made; empty paths are left out. Throws Error(environment) if that is not
/// possible.
void keep_files(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files);
/// Copies what a spec leaves that failed, its artifact (empty: it has none) and its source, into a folder, and writes
/// the log there. Throws Error(environment) if that is not possible.
void keep_files(const std::filesystem::path& folder, const std::filesystem::path& artifact,
                const std::filesystem::path& source, const Failure& failure);

}  // namespace tune::exec

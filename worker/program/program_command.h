#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/command.h"
#include "model/program.h"

namespace tune::worker {

/// The rule for a language: $CC, $CXX, nvcc or hipcc, optimizing. `arch` is a GPU architecture; "native" or empty: this
/// machine's. `flags` may name an architecture instead.
Words default_build_command(Language language, const std::string& arch, const Words& flags);

/// How a program runs if `run:` does not say: what was built as it is, a Python file by python3, any other as it is.
Words default_run_command(const std::filesystem::path& source, bool built);

/// The words of $NAME, or `fallback` if it is unset or blank: "ccache g++" is two.
Words command_from_environment(const char* name, const std::string& fallback);

}  // namespace tune::worker

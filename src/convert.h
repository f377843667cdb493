#pragma once
#include "model/error.h"
#include "options.h"

namespace tune {

/// `tune convert IN OUT`: writes a recorded run in another format. Throws Error.
ExitCode convert(const ConvertOptions& options, const std::vector<std::string>& command);

}  // namespace tune

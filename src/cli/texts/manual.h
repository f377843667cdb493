#pragma once
#include <string>

#include "cli/list.h"

namespace tune::cli {

/// The manual page tune(1) in roff. `version` is `tune 1.0.0`.
std::string manual_page(const CommandText& tune, const std::string& version);

}  // namespace tune::cli

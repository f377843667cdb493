#pragma once
#include <string_view>

namespace tune::platform {

/// From now on `log` writes to stderr, with the time; before that it writes nothing.
void log_verbosely();
void log(std::string_view text);

}  // namespace tune::platform

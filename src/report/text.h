#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/space.h"

namespace tune::report {

/// A line of a message as it is shown: hidden characters are escaped, and what exceeds `limit` bytes is cut.
std::string printable(std::string_view line, std::size_t limit = 200);
/// The first line of a message, printable; `(no message)` if it is empty.
std::string first_line(std::string_view message);
/// Code points of a UTF-8 text.
std::size_t width_of(std::string_view text);
/// `BM=128/BN=64`: the settings named in `names`, in the spec's order.
std::string settings_text(const Spec& spec, std::span<const std::string> names);

}  // namespace tune::report

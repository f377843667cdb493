#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/space.h"

namespace tune {

/// `BM=64 $THREADS=2`.
std::string to_text(const std::vector<Setting>& params);
/// What all of them have; nothing if they do not differ. Precondition: there is one.
std::vector<Setting> common_settings(std::span<const std::vector<Setting>* const> all);
/// Those that are not among the common ones.
std::vector<Setting> without(std::vector<Setting> params, const std::vector<Setting>& common);

}  // namespace tune

#pragma once
#include <functional>
#include <string>
#include <vector>

#include "database/database.h"

namespace tune::commands {

/// The function by which sizes without a result of their own become those of another one, from what a user wrote:
/// `pow2` makes each size the next power of two that is not smaller, and `m=ceil_div(m, 64)*64` computes one of them
/// from all. The function is empty without a text, and throws Error(bad_input) where an expression has no value.
/// Throws Error(bad_input).
std::function<database::Sizes(const database::Sizes&)> size_key(const std::vector<std::string>& texts,
                                                                const database::Sizes& names);

}  // namespace tune::commands

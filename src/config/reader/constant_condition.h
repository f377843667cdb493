#pragma once
#include "config/yaml/node.h"
#include "model/expression/expression.h"
#include "model/space.h"

namespace tune::config {

/// Whether a condition is a number or a text instead of a comparison, such as `BM*BN`: it holds wherever it is not 0,
/// which is hardly meant. A name alone is a condition if it may be true or false: a derived value, a property of the
/// device, or a parameter with values such as 0 and 1.
bool compares_nothing(const Expression& condition, const Names& names, std::span<const Space::Mapping> mappings);

}  // namespace tune::config

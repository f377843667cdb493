#pragma once
#include <functional>
#include <string>

#include "model/values/value.h"

namespace tune {

/// Leaves only the points whose parameter `name` has a value that `admits` accepts (for a filter or `default:`). A
/// mapping that lacks this parameter keeps no points.
struct Restriction {
  std::string name;
  std::function<bool(const Value&)> admits;
};

}  // namespace tune

#pragma once
#include <functional>
#include <string>

#include "model/values/value.h"

namespace tune {

/// Only points whose parameter `name` has a value that `admits` accepts (a filter, `default:`). A mapping of the union
/// that lacks the name has none.
struct Restriction {
  std::string name;
  std::function<bool(const Value&)> admits;
};

}  // namespace tune

#pragma once
#include <vector>

namespace tune {

/// In which order variables should be given values so that few beginnings differ in what they leave open. `sizes[v]` is
/// how many values v has, `supports` the variables of each condition. That of the variables themselves where another is
/// not clearly better. A heuristic: right or wrong is not a question.
std::vector<int> order_variables(const std::vector<std::size_t>& sizes, const std::vector<std::vector<int>>& supports);

}  // namespace tune

#pragma once
#include <map>
#include <string>

#include "model/problem.h"
#include "model/values/value.h"

namespace tune {

/// What tells problems of one kernel apart in journals and other tools' files: `4096x4096x4096`, with batch, types and
/// layouts behind it where they are not 1, f32 and row; a custom problem's `h=1024 w=2048`, from the sizes among
/// `constants`. Empty in program mode.
std::string problem_size_text(const Problem& problem, const std::map<std::string, Value>& constants);

}  // namespace tune

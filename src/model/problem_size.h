#pragma once
#include <map>
#include <string>

#include "model/problem.h"
#include "model/values/value.h"

namespace tune {

/// The text that identifies a problem of a kernel in journals and files of other tools: `4096x4096x4096`, followed by
/// batch, groups, types and layouts if they are not 1, none, f32 and row; for a custom problem `h=1024 w=2048`, from
/// the sizes among `constants`. It is empty in program mode.
std::string problem_size_text(const Problem& problem, const std::map<std::string, Value>& constants);

}  // namespace tune

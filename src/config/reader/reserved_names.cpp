#include "config/reader/reserved_names.h"

#include <algorithm>
#include <array>

#include "config/reader/problem_reader.h"

namespace tune::config {
namespace {

constexpr std::array<std::string_view, 4> kFigures = {"time", "flops", "bytes", "energy"};

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_word_of_the_language(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {"and",  "or",   "not",   "in",    "if",
                                                      "else", "True", "False", "device"};
  return has(kWords, name);
}

bool is_function(std::string_view name) {
  constexpr std::array<std::string_view, 4> kFunctions = {"min", "max", "abs", "ceil_div"};
  return has(kFunctions, name);
}

}  // namespace

std::span<const std::string_view> figure_names() { return kFigures; }

std::string owner_of(std::string_view name, const Plan& plan) {
  if (is_function(name)) return "a built-in function";
  if (is_word_of_the_language(name)) return "a word of the expression language";
  if (plan.constants.contains(std::string(name))) return "a size of the problem";
  if (has(kFigures, name)) return "a built-in figure of a measurement";
  if (plan.is_program()) return "";
  const auto of_builds = [&](const BackendTraits& traits) { return has(traits.build_names, name); };
  if (std::ranges::any_of(backends(), of_builds)) return "a built-in property of a build";
  const std::vector<std::string> buffers = buffer_names(plan.problem);
  if (std::ranges::find(buffers, name) != buffers.end() || name == "workspace") return "a buffer";
  return "";
}

}  // namespace tune::config

#include "commands/init/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "commands/init/names_and_types.h"
#include "model/values/text.h"

namespace tune::commands {
namespace {

/// Where a macro stands in the code.
struct Uses {
  bool as_type = false, as_step = false, as_condition = false, otherwise = false;
};

bool is_condition(const Tokens& code, std::size_t i) {
  const Token &before = code[i - 1], &next = code[i + 1];
  const auto joins = [](const Token& token) { return token.is("&&") || token.is("||") || token.is("!"); };
  if (before.is("!") || next.is("?")) return true;
  if (before.is("(") && i >= 2 && (code[i - 2].is("if") || code[i - 2].is("constexpr")))
    return joins(next) || next.is(")") || next.is("==") || next.is("!=") || next.is(">");
  return (joins(before) || before.is("(")) && (joins(next) || (joins(before) && next.is(")")));
}

Uses uses_of(const std::string& name, const Tokens& code) {
  Uses uses;
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    if (!code[i].is(name)) continue;
    const bool is_pointed_to = code[i - 1].is("const") && (code[i + 1].is("*") || code[i + 1].is("&"));
    if (is_condition(code, i))
      uses.as_condition = true;
    else if (code[i + 1].is_word() || is_pointed_to)
      uses.as_type = true;
    else if (code[i - 1].is("+="))
      uses.as_step = true;
    else
      uses.otherwise = true;
  }
  return uses;
}

/// Half, once and twice the number that the source has. 1 is a switch only where nothing counts with it.
std::string values_around(const BuildMacro& macro, const Tokens& code) {
  const auto number = whole_number(macro.value);
  if (!number) return "[" + macro.value + "]";
  const Uses uses = uses_of(macro.name, code);
  if (*number == 1 && (uses.as_step || uses.otherwise)) return "[1, 2, 4]";
  if (*number <= 1) return "[0, 1]";
  return *number % 2 == 0 ? fmt::format("[{}, {}, {}]", *number / 2, *number, *number * 2)
                          : fmt::format("[{}, {}]", *number, *number * 2);
}

/// The numbers that a static_assert allows, as in `MFMA == 16 || MFMA == 32` and `N >= 1 && N <= 3`; empty: none
/// lists them.
std::string values_of_assertions(const KernelSource& source, const std::string& name) {
  std::set<std::int64_t> values;
  std::int64_t least = 0, most = 0;
  for (const Assertion& assertion : source.assertions)
    for (std::size_t i = 0; i + 2 < assertion.condition.size(); ++i) {
      const Token& sign = assertion.condition[i + 1];
      const bool starts = i == 0 || assertion.condition[i - 1].is("||") || assertion.condition[i - 1].is("&&") ||
                          assertion.condition[i - 1].is("(");
      const auto value = whole_number(assertion.condition[i + 2].text);
      if (!starts || !assertion.condition[i].is(name) || !value) continue;
      if (sign.is("==")) values.insert(*value);
      if (sign.is(">=")) least = *value;
      if (sign.is("<=")) most = *value;
    }
  if (values.size() < 2 && least > 0 && most > least && most - least < 8)
    for (std::int64_t value = least; value <= most; ++value) values.insert(value);
  return values.size() < 2 ? "" : fmt::format("[{}]", fmt::join(values, ", "));
}

/// By the names that tiles of matrix products have; empty: it has none of them.
std::string values_of_tile(const std::string& name, bool has_tensor_maps) {
  static const std::map<std::string, const char*> kTiles = {{"bm", "[32, 64, 128]"},
                                                            {"bn", "[32, 64, 128]"},
                                                            {"bk", "[8, 16, 32]"},
                                                            {"block_size_m", "[32, 64, 128]"},
                                                            {"block_size_n", "[32, 64, 128]"},
                                                            {"block_size_k", "[8, 16, 32]"},
                                                            {"wm", "[16, 32, 64]"},
                                                            {"wn", "[16, 32, 64]"},
                                                            {"tm", "[2, 4, 8]"},
                                                            {"tn", "[2, 4, 8]"}};
  if ((name == "bk" || name == "block_size_k") && has_tensor_maps) return "[32, 64, 128]";
  const auto tile = kTiles.find(name);
  return tile == kTiles.end() ? "" : tile->second;
}

/// By its part in the number of a block's threads; empty: it has none.
std::string values_of_threads(const std::string& name, const KnownLaunch& launch) {
  const auto names_it = [&](const std::string& text) { return mentions(text, name); };
  const auto count = std::ranges::count_if(launch.block, names_it);
  if (count > 1) return "[8, 16, 32]";
  if (count == 0) return "";
  if (std::ranges::find(launch.block, name) == launch.block.end()) {
    const std::string& text = *std::ranges::find_if(launch.block, names_it);
    if (text.find("//" + name) != std::string::npos) return "[2, 4, 8]";
    return text.find(name + "//") != std::string::npos ? "[32, 64, 128]" : "[1, 2, 4, 8]";
  }
  if (launch.block.size() == 1) return "{pow2: [64, 1024]}";
  return launch.block[0] == name ? "[16, 32, 64]" : "[1, 2, 4, 8, 16]";
}

}  // namespace

std::string guess_values(const BuildMacro& macro, const KernelSource& source, const KnownLaunch& launch) {
  if (!macro.value.empty()) return values_around(macro, source.code);
  if (std::string listed = values_of_assertions(source, macro.name); !listed.empty()) return listed;
  const std::string name = lower_case(macro.name);
  if (std::string values = values_of_tile(name, launch.has_tensor_maps); !values.empty()) return values;
  const Uses uses = uses_of(macro.name, source.code);
  if (uses.as_type) return "[float]";
  if (!launch.for_gpu && is_thread_count(macro.name)) return "[1, 2, 4, 8]";
  if (std::string values = values_of_threads(macro.name, launch); !values.empty()) return values;
  for (const Indexing::Dimension& dimension : launch.indexing->dimensions())
    if (mentions(dimension.elements, macro.name))
      return dimension.elements == macro.name ? "[32, 64, 128]" : "[1, 2, 4]";
  if (uses.as_condition && !uses.as_step && !uses.otherwise) return "[0, 1]";
  const bool is_vector = name.find("lane") != std::string::npos || name.find("simd") != std::string::npos;
  if (is_vector && !launch.for_gpu) return "[4, 8, 16, 32]";
  const bool is_tile = name.find("tile") != std::string::npos || name.find("block") != std::string::npos;
  if (uses.as_step || is_tile) return launch.for_gpu ? "[8, 16, 32]" : "[16, 32, 64, 128, 256]";
  return "[1, 2, 4, 8]";
}

}  // namespace tune::commands

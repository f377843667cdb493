#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "commands/init/draft_writer.h"
#include "model/values/text.h"

namespace tune::commands {
namespace {

/// A launch as far as it is known when the values of its parameters are guessed.
struct KnownLaunch {
  bool for_gpu = false, has_tensor_maps = false;
  std::vector<std::string> block;  ///< threads along x, y and z, as expressions
  const Indexing* indexing = nullptr;
};

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

/// The numbers that the code compares it with, and 0 or 1 beside a single one; empty: it has other uses, too, or an
/// assertion, which says more.
std::string values_of_comparisons(const BuildMacro& macro, const KernelSource& source) {
  const auto names_it = [&](const Token& token) { return token.is(macro.name); };
  for (const Assertion& assertion : source.assertions)
    if (std::ranges::any_of(assertion.condition, names_it)) return "";
  const Tokens& code = source.code;
  std::set<std::int64_t> values;
  if (const auto number = whole_number(macro.value)) values.insert(*number);
  bool is_compared = false;
  for (std::size_t i = 0; i + 2 < code.size(); ++i) {
    if (!names_it(code[i])) continue;
    const auto value = whole_number(code[i + 2].text);
    const bool goes_on =
        i + 3 < code.size() && std::string_view("+-*/%<>^").find(code[i + 3].text) != std::string_view::npos;
    if (!value || goes_on || !(code[i + 1].is("==") || code[i + 1].is("!="))) return "";
    values.insert(*value);
    is_compared = true;
  }
  if (values.size() == 1) values.insert(values.contains(0) ? 1 : 0);
  return is_compared ? fmt::format("[{}]", fmt::join(values, ", ")) : "";
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

/// The values that are worth a try, as a tuning file has them: by the number in the source, by what its assertions
/// allow, by what the macro is called, and by where it stands.
std::string guess_values(const BuildMacro& macro, const KernelSource& source, const KnownLaunch& launch) {
  if (std::string compared = values_of_comparisons(macro, source); !compared.empty()) return compared;
  if (!macro.value.empty()) return values_around(macro, source.code);
  if (std::string listed = values_of_assertions(source, macro.name); !listed.empty()) return listed;
  const std::string name = lower_case(macro.name);
  if (std::string values = values_of_tile(name, launch.has_tensor_maps); !values.empty()) return values;
  const Uses uses = uses_of(macro.name, source.code);
  if (uses.as_type) return "[float]";
  if (!launch.for_gpu && source.counts_threads(macro.name)) return "[1, 2, 4, 8]";
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

/// Of `[1, 2, 4]` and `{pow2: [64, 1024]}`, of which the first is taken.
std::vector<std::string> values_in(const std::string& list) {
  std::vector<std::string> values;
  std::size_t begin = list.find('[') + 1;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find_first_of(",]", begin), list.size());
    values.push_back(list.substr(begin, end - begin));
    begin = list.find_first_not_of(" ,", end);
    if (list[0] == '{' || end >= list.size() || list[end] == ']') break;
  }
  return values;
}

bool satisfies(const std::vector<Expression>& conditions, const std::vector<std::vector<std::string>>& lists,
               const std::vector<std::size_t>& chosen) {
  std::vector<Value> slots;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string& text = lists[i][chosen[i]];
    const auto number = whole_number(text);
    slots.push_back(number ? Value(*number) : Value(text));
  }
  return std::ranges::all_of(conditions, [&](const Expression& condition) {
    EvalFailure failure;
    return condition.holds(slots, failure);
  });
}

}  // namespace

std::string DraftWriter::first_values() const {
  std::vector<std::vector<std::string>> lists;
  for (const auto& [name, list] : params_) lists.push_back(values_in(list));
  const std::vector<Expression> conditions = conditions_of_params();
  std::vector<std::size_t> chosen(lists.size(), 0);
  constexpr int kMostTries = 100'000;
  for (int i = 0; i < kMostTries && !satisfies(conditions, lists, chosen); ++i) {
    std::size_t next = 0;
    while (next < chosen.size() && ++chosen[next] == lists[next].size()) chosen[next++] = 0;
    if (next == chosen.size()) break;  // none does
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < lists.size(); ++i) values.push_back(params_[i].first + ": " + lists[i][chosen[i]]);
  return fmt::format("{{{}}}", fmt::join(values, ", "));
}

std::vector<Expression> DraftWriter::conditions_of_params() const {
  Names names;
  for (const auto& [name, list] : params_) names.declare(name.starts_with('$') ? name.substr(1) : name);
  std::vector<Expression> conditions;
  for (const std::string& constraint : constraints_) try {
      conditions.push_back(Expression::parse(constraint.substr(0, constraint.find("  #")), names));
    } catch (const ExpressionError&) {  // it names a size or the device, too
    }
  return conditions;
}

void DraftWriter::write_build() {
  std::vector<std::string> parts;
  if (!request_->for_gpu && source_->uses_openmp) parts.emplace_back("flags: [-fopenmp]");
  std::set<std::string> defines;
  for (const BuildMacro& macro : source_->macros)
    if (is_gemm_ && is_of_problem(macro)) defines.insert(define_of_problem(macro.name));
  if (!defines.empty()) parts.push_back(fmt::format("defines: [{}]", fmt::join(defines, ", ")));
  if (!parts.empty()) line("build: {{{}}}", fmt::join(parts, ", "));
}

void DraftWriter::choose_params() {
  const bool counts_threads =
      std::ranges::any_of(kernel_->arguments, [this](const KernelArgument& each) { return is_count_of_threads(each); });
  const KnownLaunch launch{request_->for_gpu, has_tensor_maps(), block_, &indexing_};
  for (const BuildMacro& macro : source_->macros)
    if (!is_of_problem(macro)) params_.emplace_back(macro.name, guess_values(macro, *source_, launch));
  for (const std::string& name : run_time_threads_)
    params_.emplace_back("$" + name, run_time_threads_.size() == 1 ? "{pow2: [64, 1024]}"
                                     : name.ends_with("X")         ? "[16, 32, 64]"
                                                                   : "[1, 2, 4, 8, 16]");
  for (const std::string& count : counts_) params_.emplace_back("$" + count, "[1]");
  if (counts_threads) params_.emplace_back("$THREADS", "[1, 2, 4, 8]");
}

void DraftWriter::write_params() {
  if (params_.empty()) return line("params: {{}}");
  line("params:");
  draft_.parameters = static_cast<int>(params_.size());
  for (const auto& [name, values] : params_)
    guessed(fmt::format("  {}: {}", name, values), name.starts_with('$')
                                                       ? "an argument or the launch has it; it is no macro"
                                                   : has_value(name) ? "around the value in the source"
                                                                     : "the values");
}

bool DraftWriter::has_value(const std::string& macro) const {
  return std::ranges::any_of(source_->macros,
                             [&](const BuildMacro& each) { return each.name == macro && !each.value.empty(); });
}

void DraftWriter::write_default() {
  std::vector<std::string> values;
  for (const BuildMacro& macro : source_->macros)
    if (!macro.value.empty() && !is_of_problem(macro)) values.push_back(fmt::format("{}: {}", macro.name, macro.value));
  if (values.empty()) return;
  const std::size_t of_macros = values.size();
  for (const auto& [name, list] : params_)
    if (name.starts_with('$')) values.push_back(fmt::format("{}: {}", name, values_in(list).front()));
  const std::string text = fmt::format("default: {{{}}}", fmt::join(values, ", "));
  values.size() > of_macros ? guessed(text, "what you run now") : line("{}", text);
}

void DraftWriter::find_constraints() {
  std::vector<std::string>& lines = constraints_;
  std::vector<std::string> factors;
  for (const std::string& threads : block_)
    if (threads != "1")
      factors.push_back(threads.find_first_of("+-/*") != std::string::npos ? "(" + threads + ")" : threads);
  const bool is_constant = std::ranges::all_of(factors, [](const std::string& each) {
    return std::ranges::all_of(each, [](unsigned char c) { return std::isdigit(c) != 0; });
  });
  if (factors.size() == 1) factors[0] = *std::ranges::find_if(block_, [](const auto& each) { return each != "1"; });
  if (!is_constant && (factors.size() > 1 || factors[0].find_first_of("*/") != std::string::npos))
    lines.push_back(fmt::format("{} <= 1024  # a block's most threads", fmt::join(factors, "*")));
  for (const std::string& threads : block_)
    for (std::size_t at = threads.find("//"); at != std::string::npos; at = threads.find("//", at + 2)) {
      std::size_t begin = at, end = at + 2;
      const auto in_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
      while (begin > 0 && in_word(threads[begin - 1])) --begin;
      while (end < threads.size() && in_word(threads[end])) ++end;
      if (begin < at && end > at + 2)
        lines.push_back(fmt::format("{} % {} == 0  # it is divided by it", threads.substr(begin, at - begin),
                                    threads.substr(at + 2, end - at - 2)));
    }
  for (const Indexing::Dimension& dimension : dimensions())
    if (has_macro(dimension.elements) && has_macro(dimension.threads) && dimension.elements != dimension.threads)
      lines.push_back(fmt::format("{} % {} == 0  # a thread's elements", dimension.elements, dimension.threads));
  for (const auto& [name, values] : params_) {
    const std::string plain = name.starts_with("$") ? name.substr(1) : name;
    if (!request_->for_gpu && source_->counts_threads(plain))
      lines.push_back(fmt::format("{} <= device.cores  # threads beyond the cores wait for each other", plain));
  }
  for (const Assertion& assertion : source_->assertions) {
    const bool of_params = std::ranges::any_of(assertion.condition, [&](const Token& token) {
      return has_macro(token.text) || source_->constants.contains(token.text);
    });
    const auto condition = of_params ? indexing_.expression(assertion.condition) : std::nullopt;
    const bool compares = condition && condition->find_first_of("=<>") != std::string::npos &&
                          (is_gemm_ || condition->find('\'') == std::string::npos);  // a type of the problem
    if (compares && std::ranges::any_of(params_, [&](const auto& each) { return mentions(*condition, each.first); }))
      lines.push_back(
          fmt::format("{}  # {}", *condition, assertion.because.empty() ? "a static_assert" : assertion.because));
  }
}

void DraftWriter::write_constraints() {
  if (constraints_.empty()) return;
  line("constraints:");
  for (const std::string& each : constraints_) line("  - {}", each);
}

}  // namespace tune::commands

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "commands/init/draft_writer.h"
#include "commands/init/values.h"

namespace tune::commands {

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

std::vector<std::string> DraftWriter::values_in(const std::string& list) {
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

bool DraftWriter::satisfies(const std::vector<Expression>& conditions,
                            const std::vector<std::vector<std::string>>& lists,
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
  const bool counts_threads = std::ranges::any_of(
      kernel_->arguments, [](const KernelArgument& each) { return !each.is_pointer && is_thread_count(each.name); });
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
  if (!values.empty()) line("default: {{{}}}", fmt::join(values, ", "));
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
    if (!request_->for_gpu && is_thread_count(plain))
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

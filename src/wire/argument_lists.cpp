#include "wire/argument_lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/text.h"

namespace tune::wire {
namespace {

std::string cell(const std::vector<ListedArgument>& list, std::size_t index) {
  if (index >= list.size()) return "-";
  const auto& [type, name] = list[index];
  return name.empty() ? type : type + " " + name;
}

std::string difference(const std::vector<ListedArgument>& parameters, const std::vector<ListedArgument>& entries,
                       std::size_t at) {
  if (parameters.size() != entries.size())
    return fmt::format("the kernel has {}, args has {}", plural(parameters.size(), "parameter"),
                       plural(entries.size(), "entry", "entries"));
  return fmt::format("parameter {} of the kernel is {}, the entry of args is {}", at + 1, cell(parameters, at),
                     cell(entries, at));
}

}  // namespace

std::string name_of(const Arg& argument) {
  if (argument.kind == Argument::Kind::alpha) return "alpha";
  if (argument.kind == Argument::Kind::beta) return "beta";
  return argument.kind == Argument::Kind::scalar ? argument.written : argument.buffer;
}

std::string arguments_do_not_fit(const std::string& kernel, const std::vector<ListedArgument>& parameters,
                                 const std::vector<ListedArgument>& entries, std::size_t at) {
  std::string of_kernel = "the kernel:  ", of_file = "args:        ";
  for (std::size_t i = 0; i < std::max(parameters.size(), entries.size()); ++i) {
    const std::string above = cell(parameters, i), below = cell(entries, i);
    const std::size_t width = std::max(above.size(), below.size());
    of_kernel += fmt::format(" {:{}}", above + (i + 1 < parameters.size() ? "," : ""), width + 1);
    of_file += fmt::format(" {:{}}", below + (i + 1 < entries.size() ? "," : ""), width + 1);
  }
  for (std::string* line : {&of_kernel, &of_file}) line->erase(line->find_last_not_of(' ') + 1);
  return fmt::format("args do not fit the parameters of kernel '{}': {}\n{}\n{}", kernel,
                     difference(parameters, entries, at), of_kernel, of_file);
}

std::optional<std::string> misfit(const std::string& kernel, const std::vector<ListedArgument>& parameters,
                                  const std::vector<ListedArgument>& entries) {
  const auto differing = std::ranges::mismatch(parameters, entries, {}, &ListedArgument::type, &ListedArgument::type);
  if (differing.in1 == parameters.end() && differing.in2 == entries.end()) return std::nullopt;
  return arguments_do_not_fit(kernel, parameters, entries,
                              static_cast<std::size_t>(differing.in1 - parameters.begin()));
}

}  // namespace tune::wire

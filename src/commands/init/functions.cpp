#include "commands/init/functions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "commands/init/names_and_types.h"

namespace tune::commands {
namespace {

/// The `{` of the function that is called so and defined here; the number of tokens if it is none.
std::size_t body_of_function(const Tokens& code, std::size_t name) {
  if (!code[name + 1].is("(") || cannot_be_type(code[name].text)) return code.size();
  const std::size_t after = closing(code, name + 1) + 1;
  return after < code.size() && code[after].is("{") ? after : code.size();
}

/// `const float* __restrict__ x`, `int n`, `float x[]`; the name is empty if there is none.
KernelArgument argument_of(const Tokens& piece) {
  KernelArgument argument;
  argument.line = piece.front().line;
  std::vector<std::string> words;
  for (const Token& token : piece) {
    if (token.is("[") || token.is("=")) {
      argument.is_pointer = argument.is_pointer || token.is("[");
      break;
    }
    if (token.is("*")) argument.is_pointer = true;
    if (token.is("&") || token.is("&&")) argument.is_reference = true;
    if (token.is("__grid_constant__")) argument.is_tensor_map = argument.is_pointer = argument.is_const = true;
    if (token.is("const")) argument.is_const = argument.is_const || !argument.is_pointer;
    if (token.is("::") && !words.empty()) words.back() += "::";
    if (!token.is_word() || is_qualifier(token.text)) continue;
    if (!words.empty() && words.back().ends_with("::"))
      words.back() += token.text;
    else
      words.push_back(token.text);
  }
  if (words.size() > 1 && !is_built_in_type(words.back())) {
    argument.name = words.back();
    words.pop_back();
  }
  for (const std::string& word : words) argument.type += (argument.type.empty() ? "" : " ") + word;
  return argument;
}

std::vector<KernelArgument> arguments_of(const Tokens& inside) {
  std::vector<KernelArgument> arguments;
  Tokens piece;
  int depth = 0;
  const auto finish = [&] {
    const bool is_void = piece.size() == 1 && piece[0].is("void");
    if (!piece.empty() && !is_void) arguments.push_back(argument_of(piece));
    piece.clear();
  };
  for (const Token& token : inside) {
    if (token.is("<") || token.is("(")) ++depth;
    if (token.is(">") || token.is(")")) --depth;
    if (token.is(",") && depth == 0)
      finish();
    else
      piece.push_back(token);
  }
  finish();
  return arguments;
}

bool begins_statement(const Tokens& code, std::size_t i) {
  return i > 0 && (code[i - 1].is("{") || code[i - 1].is("}") || code[i - 1].is(";"));
}

/// The kernel that is defined from `i` on, up to the next `;` or `{`; nullopt: it is none.
std::optional<Kernel> function_at(const Tokens& code, std::size_t i, bool has_c_linkage,
                                  const std::vector<Branch>& branches, bool for_gpu) {
  Kernel kernel;
  kernel.has_c_linkage = has_c_linkage;
  bool global = false, is_static = false;
  for (std::size_t j = i; j-- > 0 && !code[j].is(";") && !code[j].is("}") && !code[j].is("{");)
    kernel.is_template = kernel.is_template || code[j].is("template");
  for (; i + 1 < code.size() && !code[i].is(";") && !code[i].is("{"); ++i) {
    global = global || code[i].is("__global__");
    is_static = is_static || (!for_gpu && (code[i].is("static") || code[i].is("inline")));
    if (!code[i].is_word() || !code[i + 1].is("(")) continue;
    const std::size_t close = closing(code, i + 1);
    if (close + 1 >= code.size()) return std::nullopt;
    const Tokens inside(code.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                        code.begin() + static_cast<std::ptrdiff_t>(close));
    if (code[i].is("__launch_bounds__")) {
      kernel.launch_bounds = inside;
    } else if (code[close + 1].is("{")) {
      const std::size_t end = closing(code, close + 1);
      kernel.name = code[i].text;
      kernel.line = code[i].line;
      kernel.arguments = arguments_of(inside);
      for (KernelArgument& argument : kernel.arguments)
        if (const Branch* branch = branch_at(branches, argument.line);
            branch != nullptr && branch->begin > kernel.line && !branch->otherwise)
          argument.condition = branch->condition;
      kernel.body.assign(code.begin() + static_cast<std::ptrdiff_t>(close) + 1,
                         code.begin() + static_cast<std::ptrdiff_t>(end));
      break;
    }
    i = close;
  }
  if (kernel.name.empty() || global != for_gpu || is_static) return std::nullopt;
  return kernel;
}

}  // namespace

std::vector<Branch> branches_of(const std::vector<Tokens>& directives) {
  struct Open {
    Branch first;
    int middle = 0;  ///< the line of `#else`
    bool usable = true;
  };
  std::vector<Open> open;
  std::vector<Branch> branches;
  for (const Tokens& directive : directives) {
    if (directive.empty()) continue;
    const int line = directive[0].line;
    if (directive[0].text.starts_with("if")) {
      const bool asks = std::ranges::any_of(directive, [](const Token& each) { return each.is("defined"); });
      open.push_back({{Tokens(directive.begin() + 1, directive.end()), false, line, 0},
                      0,
                      directive[0].is("if") && directive.size() > 1 && !asks});
    }
    if (open.empty()) continue;
    if (directive[0].text.starts_with("elif")) open.back().usable = false;
    if (directive[0].is("else")) open.back().middle = line;
    if (!directive[0].is("endif")) continue;
    Open done = std::move(open.back());
    open.pop_back();
    if (!done.usable) continue;
    done.first.end = done.middle != 0 ? done.middle : line;
    branches.push_back(done.first);
    if (done.middle != 0) branches.push_back({done.first.condition, true, done.middle, line});
  }
  return branches;
}

const Branch* branch_at(const std::vector<Branch>& branches, int line) {
  const auto found =
      std::ranges::find_if(branches, [&](const Branch& each) { return each.begin < line && line < each.end; });
  return found == branches.end() ? nullptr : &*found;
}

std::string asked_for(const Tokens& directive) {
  if (directive.size() >= 2 && directive[0].is("ifndef")) return directive[1].text;
  if (directive.size() >= 4 && directive[0].is("if") && directive[1].is("!") && directive[2].is("defined"))
    return directive[directive[3].is("(") && directive.size() > 4 ? 4 : 3].text;
  return "";
}

Tokens without_host_functions(const Tokens& code, int& first_line) {
  Tokens kept;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t body = i + 1 < code.size() && code[i].is_word() ? body_of_function(code, i) : code.size();
    const std::size_t end = body < code.size() ? closing(code, body) : code.size();
    const auto launches = [](const Token& token) { return token.is("<<<"); };
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(std::min(body, code.size()));
    const bool is_host =
        end < code.size() &&
        (code[i].is("main") || std::any_of(begin, code.begin() + static_cast<std::ptrdiff_t>(end), launches));
    if (!is_host) {
      kept.push_back(code[i]);
      continue;
    }
    if (first_line == 0) first_line = code[i].line;
    while (!kept.empty() && !kept.back().is(";") && !kept.back().is("}")) kept.pop_back();  // its type
    i = end;
  }
  return kept;
}

std::vector<Kernel> kernels_in(const Tokens& code, const std::vector<Branch>& branches, bool for_gpu) {
  std::vector<Kernel> kernels;
  const auto add_function = [&](std::size_t i, bool has_c_linkage) {
    if (auto kernel = function_at(code, i, has_c_linkage, branches, for_gpu)) kernels.push_back(std::move(*kernel));
  };
  std::size_t end_of_c = 0;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    const bool linkage = code[i].is("extern") && code[i + 1].text == "\"C\"";
    if (linkage && i + 2 < code.size() && code[i + 2].is("{")) end_of_c = closing(code, i + 2);
    if (linkage && i + 2 < code.size() && !code[i + 2].is("{"))
      add_function(i + 2, true);
    else if (i < end_of_c && begins_statement(code, i) && !linkage)
      add_function(i, true);
    else if (for_gpu && i >= end_of_c && code[i].is("__global__"))
      add_function(i, false);
  }
  return kernels;
}

}  // namespace tune::commands

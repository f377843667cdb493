#include "commands/init/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/init/names_and_types.h"

namespace tune::commands {
namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
constexpr std::array<const char*, 4> kBuiltins = {"blockIdx", "threadIdx", "blockDim", "gridDim"};

std::string builtin(const char* name, int dimension) {
  return fmt::format("{}.{}", name, kAxes[static_cast<std::size_t>(dimension)]);
}

/// Of a macro, in contrast to `blockDim.x` and a product.
bool is_name(const std::string& text) {
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

/// `(a + b)`, but not `(a) + (b)`.
bool is_in_brackets(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i > 0 && i + 1 == text.size();
  }
  return false;
}

bool compares(const Token& token) { return token.is("<") || token.is("<=") || token.is(">") || token.is(">="); }

/// `blockIdx`, `.`, `x` as one word.
Tokens with_joined_builtins(const Tokens& tokens) {
  Tokens joined;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_one = std::ranges::any_of(kBuiltins, [&](const char* name) { return tokens[i].is(name); });
    joined.push_back(tokens[i]);
    if (!is_one || i + 2 >= tokens.size() || !tokens[i + 1].is(".")) continue;
    joined.back().text += "." + tokens[i + 2].text;
    i += 2;
  }
  return joined;
}

}  // namespace

Indexing::Indexing(const KernelSource& source, const Kernel& kernel)
    : source_(&source), kernel_(&kernel), body_(with_joined_builtins(kernel.body)) {
  for (const KernelArgument& argument : kernel.arguments)
    if (!argument.is_pointer && is_whole_number(argument.type)) integers_.insert(argument.name);
  for (const BuildMacro& macro : source.macros) macros_.insert(macro.name);
  drop_casts();
  name_aliases();
  for (int dimension = 0; dimension < 3; ++dimension) read_dimension(dimension);
}

bool Indexing::is_builtin(std::size_t i, const char* name, int dimension) const {
  return i < body_.size() && body_[i].is(builtin(name, dimension));
}

/// Removes `static_cast<T>(...)`, `(long long)` and `size_t(...)` around what is a word alone.
void Indexing::drop_casts() {
  Tokens plain;
  for (std::size_t i = 0; i < body_.size(); ++i) {
    std::size_t open = i;
    if (body_[i].is("static_cast")) {
      while (open < body_.size() && !body_[open].is("(")) ++open;
    } else if (is_whole_number(body_[i].text) && i + 1 < body_.size() && body_[i + 1].is("(")) {
      open = i + 1;
    } else if (body_[i].is("(")) {
      std::string type;
      std::size_t end = i + 1;
      for (; end < body_.size() && body_[end].is_word(); ++end) type += (type.empty() ? "" : " ") + body_[end].text;
      if (end < body_.size() && body_[end].is(")") && is_whole_number(type)) {
        i = end;
        continue;
      }
    }
    if (open > i && open + 2 < body_.size() && body_[open + 1].is_word() && body_[open + 2].is(")")) {
      plain.push_back(body_[open + 1]);
      i = open + 2;
      continue;
    }
    plain.push_back(body_[i]);
  }
  body_ = std::move(plain);
}

/// Replaces the variables that are only another name of blockIdx.x and its like.
void Indexing::name_aliases() {
  std::map<std::string, std::string> aliases;
  for (std::size_t i = 1; i + 2 < body_.size(); ++i) {
    const bool is_one =
        std::ranges::any_of(kBuiltins, [&](const char* name) { return body_[i + 1].text.starts_with(name); });
    if (body_[i].is("=") && is_one && (body_[i + 2].is(";") || body_[i + 2].is(",")))
      aliases.try_emplace(body_[i - 1].text, body_[i + 1].text);
  }
  for (std::size_t i = 0; i + 1 < body_.size(); ++i)
    if (const auto alias = aliases.find(body_[i].text); alias != aliases.end() && !body_[i + 1].is("="))
      body_[i].text = alias->second;
}

const Tokens* Indexing::constant_named(const std::string& name) const {
  for (const auto* constants : {&kernel_->constants, &source_->constants})
    if (const auto found = constants->find(name); found != constants->end()) return &found->second;
  return nullptr;
}

/// `a ? b : c` as `(b if a else c)`; `question` is the place of the sign.
std::optional<std::string> Indexing::choice(const Tokens& tokens, std::size_t question, int depth) const {
  std::size_t colon = question + 1;
  for (int open = 0; colon < tokens.size() && (open > 0 || !tokens[colon].is(":")); ++colon) {
    if (tokens[colon].is("(")) colon = std::min(closing(tokens, colon), tokens.size() - 1);
    open += tokens[colon].is("?") ? 1 : tokens[colon].is(":") ? -1 : 0;
  }
  const auto part = [&](std::size_t from, std::size_t to) {
    return expression(Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(std::min(from, to)),
                             tokens.begin() + static_cast<std::ptrdiff_t>(to)),
                      depth + 1);
  };
  const auto condition = part(0, question), then = part(question + 1, colon),
             otherwise = part(colon + 1, tokens.size());
  if (colon >= tokens.size() || !condition || !then || !otherwise) return std::nullopt;
  return fmt::format("({} if {} else {})", *then, *condition, *otherwise);
}

std::optional<std::string> Indexing::expression(const Tokens& tokens, int depth) const {
  std::string text;
  if (depth > 8 || tokens.empty()) return std::nullopt;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) i = std::min(closing(tokens, i), tokens.size() - 1);
    if (tokens[i].is("?")) return choice(tokens, i, depth);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::number) {
      const auto number = whole_number(token.text);
      if (!number) return std::nullopt;
      text += std::to_string(*number);
    } else if (token.is("/")) {
      text += "//";
    } else if (token.is("&&") || token.is("||") || token.is("!")) {
      text += token.is("&&") ? " and " : token.is("||") ? " or " : "not ";
    } else if (compares(token) || token.is("==") || token.is("!=")) {
      text += " " + token.text + " ";
    } else if (token.is("+") || token.is("-") || token.is("*") || token.is("%")) {
      text += token.text;
    } else if (token.is("(")) {
      const std::size_t close = closing(tokens, i);
      if (close >= tokens.size()) return std::nullopt;
      const auto inside = expression(Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                            tokens.begin() + static_cast<std::ptrdiff_t>(close)),
                                     depth);
      if (!inside) return std::nullopt;
      text += is_in_brackets(*inside) ? *inside : "(" + *inside + ")";
      i = close;
    } else if (token.is("true") || token.is("false")) {
      text += token.is("true") ? "True" : "False";
    } else if (const std::string define = define_of_problem(token.text);
               macros_.contains(token.text) && !define.empty() && define != token.text) {
      text += fmt::format("({} == '{}')", define, token.text.substr(define.size() + 1));
    } else if (macros_.contains(token.text) || is_size(token.text)) {
      text += token.text;
    } else if (token.text.starts_with("blockDim.")) {
      text += token.text;  // which the caller knows better
    } else if (const Tokens* constant = constant_named(token.text)) {
      const auto value = expression(*constant, depth + 1);
      if (!value) return std::nullopt;
      text += constant->size() > 1 && !is_in_brackets(*value) ? "(" + *value + ")" : *value;
    } else {
      return std::nullopt;
    }
  }
  return text;
}

/// The whole-number argument with which what begins at `i` is compared, as in `i * 4 + 3 < n`; empty: it is not.
std::string Indexing::compared_size(std::size_t i) const {
  bool compared = false;
  for (std::size_t j = i + 1; j < body_.size() && j < i + 16; ++j) {
    if (body_[j].is(";") || body_[j].is("&&") || body_[j].is("||") || body_[j].is("{") || body_[j].is("=")) return "";
    if (compared && is_size(body_[j].text)) return body_[j].text;
    compared = compared || compares(body_[j]);
  }
  return "";
}

/// The first argument with which a value is compared that depends on this one. A variable depends on what it was set
/// to last.
std::string Indexing::bound_of(const std::string& value) const {
  std::set<std::string> dependent = {value};
  for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
    if (!body_[i].is_word()) continue;
    if (body_[i + 1].is("=") && !body_[i].is(value)) {
      if (depends_on(dependent, i + 2))
        dependent.insert(body_[i].text);
      else
        dependent.erase(body_[i].text);
    } else if (dependent.contains(body_[i].text)) {
      if (const std::string size = compared_size(i); !size.empty()) return size;
    }
  }
  return "";
}

/// Whether the expression that begins at `i` names one of these.
bool Indexing::depends_on(const std::set<std::string>& names, std::size_t i) const {
  for (int depth = 0; i < body_.size() && !body_[i].is(";"); ++i) {
    if (body_[i].is("(") || body_[i].is("[")) ++depth;
    if (body_[i].is(")") || body_[i].is("]")) --depth;
    if (depth < 0 || (depth == 0 && body_[i].is(","))) return false;
    if (names.contains(body_[i].text)) return true;
  }
  return false;
}

void Indexing::read_dimension(int dimension) {
  Dimension& result = dimensions_[static_cast<std::size_t>(dimension)];
  for (std::size_t i = 0; i < body_.size(); ++i) {
    if (is_builtin(i, "threadIdx", dimension)) result.has_threads = true;
    if (is_builtin(i, "blockDim", dimension)) result.asks_launch = result.has_threads = true;
    if (!is_builtin(i, "blockIdx", dimension)) continue;
    result.has_blocks = true;
    // The product that this is a factor of, and of what the sum with the thread's index is one.
    std::size_t left = i, right = i;
    std::vector<std::string> factors;
    std::string row_stride;
    bool all_known = true;
    const auto take = [&](std::size_t from, std::size_t to) {
      const Tokens factor(body_.begin() + static_cast<std::ptrdiff_t>(from),
                          body_.begin() + static_cast<std::ptrdiff_t>(to) + 1);
      const auto text = expression(factor);
      if (factor.size() == 1 && is_size(factor[0].text))
        row_stride = factor[0].text;
      else if (text)
        factors.push_back(factor.size() > 1 && !factor[0].is("(") ? "(" + *text + ")" : *text);
      else
        all_known = false;
    };
    const auto take_product = [&] {
      while (left > 1 && body_[left - 1].is("*")) {
        const std::size_t from = body_[left - 2].is(")") ? opening(body_, left - 2) : left - 2;
        take(from, left - 2);
        left = from;
      }
      while (right + 2 < body_.size() && body_[right + 1].is("*")) {
        const std::size_t to = body_[right + 2].is("(") ? closing(body_, right + 2) : right + 2;
        if (to >= body_.size()) break;
        take(right + 2, to);
        right = to;
      }
    };
    take_product();
    const std::string inner = factors.size() == 1 && is_name(factors[0]) ? factors[0] : "";
    const bool adds_thread =
        (right + 2 < body_.size() && body_[right + 1].is("+") && is_builtin(right + 2, "threadIdx", dimension)) ||
        (left > 1 && body_[left - 1].is("+") && is_builtin(left - 2, "threadIdx", dimension));
    if (adds_thread && !inner.empty() && result.threads.empty()) result.threads = inner;
    if (adds_thread) {
      const std::size_t before = is_builtin(left - 2, "threadIdx", dimension) ? left - 3 : left - 1;
      const std::size_t after = is_builtin(right + 2, "threadIdx", dimension) ? right + 3 : right + 1;
      if (body_[before].is("(") && after < body_.size() && body_[after].is(")")) {
        left = before;
        right = after;
        take_product();
      }
    }
    std::string elements;
    for (const std::string& factor : factors) elements += (elements.empty() ? "" : "*") + factor;
    if (all_known && result.elements.empty() && row_stride.empty()) result.elements = elements;
    if (!row_stride.empty() && integers_.size() == 2)
      for (const std::string& other : integers_)
        if (other != row_stride) result.size = other;
  }
  if (const std::string step = step_of_threads(dimension, result.threads); !step.empty()) result.threads = step;
  if (result.has_blocks && result.size.empty()) result.size = bound_of(builtin("blockIdx", dimension));
}

/// The macro by which a loop advances that a thread makes over the elements of a block: `for (j = 0; j < ELEMENTS; j +=
/// STEP)` with `threadIdx.y + j` in it. Empty: there is no such loop.
std::string Indexing::step_of_threads(int dimension, const std::string& elements) const {
  for (std::size_t i = 3; i + 1 < body_.size(); ++i) {
    if (!body_[i].is("+=") || !macros_.contains(body_[i + 1].text) || !body_[i - 2].is(";")) continue;
    const std::string& variable = body_[i - 1].text;
    if (body_[i - 3].text != elements) continue;
    for (std::size_t j = 1; j + 1 < body_.size(); ++j)
      if (body_[j].is("+") && ((is_builtin(j - 1, "threadIdx", dimension) && body_[j + 1].is(variable)) ||
                               (is_builtin(j + 1, "threadIdx", dimension) && body_[j - 1].is(variable))))
        return body_[i + 1].text;
  }
  return "";
}

void Indexing::add_sizes(std::size_t from, std::size_t to, std::set<std::string>& sizes) const {
  for (std::size_t i = from; i < to; ++i) {
    const std::string& name = body_[i].text;
    if (!body_[i].is_word()) continue;
    if (is_size(name)) {
      sizes.insert(name);
      continue;
    }
    for (int dimension = 0; dimension < 3; ++dimension)
      if (is_builtin(i, "blockIdx", dimension)) {
        const std::string& size = dimensions_[static_cast<std::size_t>(dimension)].size;
        if (!size.empty()) sizes.insert(size);
      }
    if (const std::string bound = bound_of(name); !bound.empty()) sizes.insert(bound);
    for (std::size_t j = 1; j < body_.size(); ++j)
      if (body_[j].is("=") && body_[j - 1].text == name && j < from)
        for (std::size_t k = j + 1; k < body_.size() && !body_[k].is(";"); ++k) {
          if (is_size(body_[k].text)) sizes.insert(body_[k].text);
          for (int dimension = 0; dimension < 3; ++dimension)
            if (is_builtin(k, "blockIdx", dimension) && !dimensions_[static_cast<std::size_t>(dimension)].size.empty())
              sizes.insert(dimensions_[static_cast<std::size_t>(dimension)].size);
        }
  }
}

std::set<std::string> Indexing::pointers_into(const std::string& buffer) const {
  std::set<std::string> pointers = {buffer};
  for (std::size_t i = 2; i + 1 < body_.size(); ++i)
    if (body_[i - 1].is("=") && pointers.contains(body_[i].text) && (body_[i + 1].is("+") || body_[i + 1].is(";")))
      pointers.insert(body_[i - 2].text);
  return pointers;
}

std::set<std::string> Indexing::sizes_of(const std::string& buffer) const {
  const std::set<std::string> pointers = pointers_into(buffer);
  std::set<std::string> sizes;
  for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
    if (!pointers.contains(body_[i].text) || body_[i + 1].is("=") || body_[i + 1].is(";")) continue;
    std::size_t end = i + 2;
    if (body_[i + 1].is("[")) {
      end = closing(body_, i + 1);
    } else if (body_[i + 1].is("+")) {
      while (end < body_.size() && !body_[end].is(";") && !body_[end].is(",")) ++end;
    } else {
      return {};  // something else gets it
    }
    add_sizes(i + 2, end, sizes);
  }
  return sizes;
}

bool Indexing::is_read(const std::string& buffer) const {
  const std::set<std::string> pointers = pointers_into(buffer);
  for (std::size_t i = 1; i + 1 < body_.size(); ++i) {
    if (!pointers.contains(body_[i].text) || body_[i + 1].is("=")) continue;
    const bool makes_pointer = body_[i - 1].is("=") && (body_[i + 1].is("+") || body_[i + 1].is(";"));
    if (makes_pointer) continue;
    // The first use decides: `y[i] = x[i]` or `y[i] = y[i] + x[i]`.
    const std::size_t end = body_[i + 1].is("[") ? closing(body_, i + 1) : body_.size();
    return end + 1 >= body_.size() || !body_[end + 1].is("=") || depends_on(pointers, end + 2);
  }
  return false;
}

std::string Indexing::stride_of(const std::string& buffer) const {
  for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
    if (!body_[i].is(buffer) || !body_[i + 1].is("[")) continue;
    const std::size_t end = closing(body_, i + 1);
    for (std::size_t j = i + 2; j < end; ++j)
      if (is_size(body_[j].text) && (body_[j - 1].is("*") || body_[j + 1].is("*"))) return body_[j].text;
  }
  return "";
}

}  // namespace tune::commands

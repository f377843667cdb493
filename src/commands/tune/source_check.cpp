#include "commands/tune/source_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>

#include "commands/init/tokens.h"
#include "model/backend.h"
#include "model/values/error.h"
#include "model/values/names.h"
#include "model/values/text.h"
#include "platform/store/sources.h"

namespace tune::commands {
namespace {

/// The parameters of a function with a body: the places of the brackets around them.
struct Definition {
  const SourceText* text = nullptr;
  std::size_t open = 0, close = 0;
};

/// Reads the sources without a compiler, and complains only where no macro, condition or header can make it right.
class SourceCheck {
 public:
  explicit SourceCheck(const Plan& plan) : plan_(&plan) {
    const platform::HeaderSearch search = platform::header_search(plan.build, plan.backend(), plan.file);
    const platform::Sources sources = platform::read_sources(plan.file, search);
    for (const auto& [path, text] : sources.texts) texts_.push_back(read_tokens(text));
    reads_more_ = !sources.macro_include.empty() || !search.named.empty();
    for (const SourceText& text : texts_) find_definitions(text);
  }

  void check(const Launch& launch, const char* key) {
    if (!is_identifier(launch.kernel)) return;  // an instance of a template, or in a namespace
    const auto [first, last] = definitions_.equal_range(launch.kernel);
    if (std::distance(first, last) == 1)
      check_arguments(launch, first->second, key);
    else if (first == last && is_absent(launch.kernel))
      complain(fmt::format("there is no function '{}' in {}, which {} names{}", launch.kernel,
                           plan_->file.filename().string(), std::string_view(key) == "launch" ? "kernel" : key,
                           did_you_mean(launch.kernel, functions())));
  }

  std::vector<std::string> take() { return std::move(complaints_); }

 private:
  void find_definitions(const SourceText& text) {
    for (std::size_t i = 0; i + 1 < text.code.size(); ++i) {
      if (!text.code[i].is_word() || !text.code[i + 1].is("(")) continue;
      const std::size_t close = closing(text.code, i + 1);
      if (close + 1 < text.code.size() && text.code[close + 1].is("{"))
        definitions_.emplace(text.code[i].text, Definition{&text, i + 1, close});
    }
  }

  std::vector<std::string> functions() const {
    std::vector<std::string> names;
    for (const auto& [name, definition] : definitions_) names.push_back(name);
    return names;
  }

  /// Not where another file or the compiler's flags may have it, or a macro may make it.
  bool is_absent(const std::string& name) const {
    const auto has_it = [&](const std::string& text) { return text.find(name) != std::string::npos; };
    const auto names_it = [&](const Token& token) {
      return token.kind == Token::Kind::text ? has_it(token.text) : token.is(name);
    };
    const auto may_make_it = [&](const Tokens& directive) {
      return std::ranges::any_of(directive, [&](const Token& token) { return names_it(token) || token.is("##"); });
    };
    return !reads_more_ && std::ranges::none_of(plan_->build.flags, has_it) &&
           std::ranges::none_of(texts_, [&](const SourceText& text) {
             return std::ranges::any_of(text.code, names_it) || std::ranges::any_of(text.directives, may_make_it);
           });
  }

  bool is_macro(const Token& token) const {
    return token.is_word() && std::ranges::any_of(texts_, [&](const SourceText& text) {
             return std::ranges::any_of(text.directives, [&](const Tokens& directive) {
               return directive.size() > 1 && directive[0].is("define") && directive[1].is(token.text);
             });
           });
  }

  /// The words and signs of each parameter, which a macro may change; none if only a compiler can tell them.
  std::optional<std::vector<Tokens>> parameters_of(const Definition& definition) const {
    const Tokens& code = definition.text->code;
    const int first = code[definition.open].line, last = code[definition.close].line;
    for (const Tokens& directive : definition.text->directives)
      if (!directive.empty() && directive[0].line >= first && directive[0].line <= last) return std::nullopt;
    std::vector<Tokens> parameters(1);
    for (std::size_t i = definition.open + 1; i < definition.close; ++i) {
      if (code[i].is("<") || is_macro(code[i])) return std::nullopt;
      if (code[i].is("(") || code[i].is("["))
        i = closing(code, i);
      else if (code[i].is(","))
        parameters.emplace_back();
      else
        parameters.back().push_back(code[i]);
    }
    if (parameters.size() == 1 && (parameters[0].empty() || name_of(parameters[0]) == "void")) parameters.clear();
    return parameters;
  }

  /// Of a parameter: its last word.
  static std::string name_of(const Tokens& parameter) {
    const auto last = std::ranges::find_if(parameter.rbegin(), parameter.rend(), &Token::is_word);
    return last == parameter.rend() ? "" : last->text;
  }

  void check_arguments(const Launch& launch, const Definition& definition, const char* key) {
    const auto parameters = parameters_of(definition);
    if (!parameters) return;
    if (parameters->size() != launch.args.size()) {
      std::vector<std::string> names;
      for (const Tokens& parameter : *parameters) names.push_back(name_of(parameter));
      return complain(fmt::format("{}: args has {}, and '{}' takes {}{}{}", key, launch.args.size(), launch.kernel,
                                  names.size(), names.empty() ? "" : ": ", fmt::join(names, ", ")));
    }
    for (std::size_t i = 0; i < parameters->size(); ++i) check_type(launch, launch.args[i], (*parameters)[i], key);
  }

  /// Of pointers to float and double, which hardly stand for another type.
  void check_type(const Launch& launch, const Argument& argument, const Tokens& parameter, const char* key) {
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(parameter, [&](const Token& token) { return token.is(word); });
    };
    const auto type = argument.kind == Argument::Kind::buffer ? type_of(argument.buffer) : std::nullopt;
    if (!type || !has("*") || has("float") == has("double")) return;
    const bool is_float = *type == Type::f32 || *type == Type::tf32, is_double = *type == Type::f64;
    if (has("float") ? !is_float : !is_double)
      complain(fmt::format("{}: '{}' has type {}, and '{}' takes a {}* for it", key, argument.buffer, to_text(*type),
                           launch.kernel, has("float") ? "float" : "double"));
  }

  /// Of a buffer's elements; none: it is the workspace, or one that comes with an epilogue.
  std::optional<Type> type_of(const std::string& buffer) const {
    if (const auto* gemm = std::get_if<Gemm>(&plan_->problem)) {
      const std::map<std::string, Type> types = {{"A", gemm->a}, {"B", gemm->b}, {"C", gemm->c}};
      const auto found = types.find(buffer);
      return found == types.end() ? std::nullopt : std::optional(found->second);
    }
    const auto& buffers = std::get<Custom>(plan_->problem).buffers;
    const auto found = std::ranges::find(buffers, buffer, &Buffer::name);
    return found == buffers.end() ? std::nullopt : std::optional(found->type);
  }

  void complain(const std::string& text) {
    complaints_.push_back(fmt::format("{}: {}", plan_->yaml.filename().string(), text));
  }

  const Plan* plan_;
  std::vector<SourceText> texts_;
  std::multimap<std::string, Definition> definitions_;  ///< by the names of functions
  bool reads_more_ = false;                             ///< the compiler has what is not among these
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> misfits_of_source(const Plan& plan) try {
  const KernelPlan* kernel = plan.kernel();
  if (kernel == nullptr || !plan.candidates.empty()) return {};
  SourceCheck check(plan);
  for (const Launch& launch : kernel->launches) check.check(launch, "launch");
  if (const auto* reference = std::get_if<Launch>(&kernel->reference)) check.check(*reference, "reference");
  return check.take();
} catch (const Error&) {
  return {};  // whoever builds the source says why it cannot be read
}

}  // namespace tune::commands

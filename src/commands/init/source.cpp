#include "commands/init/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "commands/init/declarations.h"
#include "commands/init/epilogues.h"
#include "commands/init/functions.h"
#include "commands/init/names_and_types.h"
#include "platform/store/sources.h"

namespace tune::commands {
namespace {

/// Without the first words of `GCC unroll N`, which a macro passes to _Pragma: they are no names of the source.
Tokens without_pragma_words(Tokens code) {
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (code[i].is("GCC") && code[i + 1].is_word())
      code.erase(code.begin() + static_cast<std::ptrdiff_t>(i), code.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  return code;
}

class SourceReader {
 public:
  SourceReader(const std::filesystem::path& file, bool for_gpu) : for_gpu_(for_gpu) {
    const platform::Sources sources = platform::read_sources(file, {});
    const std::filesystem::path main = std::filesystem::weakly_canonical(file);
    std::vector<SourceText> texts = {read_tokens(sources.texts.at(main))};
    for (const auto& [path, text] : sources.texts)
      if (path != main) texts.push_back(read_tokens(text));
    leave_out_epilogues(texts);
    for (const SourceText& text : texts) add(text);
    named_by_directives_ = without_pragma_words(std::move(named_by_directives_));
    source_.code.insert(source_.code.end(), named_by_directives_.begin(), named_by_directives_.end());
    add_free_names();
  }

  KernelSource take() { return std::move(source_); }

 private:
  void add(const SourceText& text) {
    const Tokens code = without_pragma_words(without_host_functions(text.code, source_.line_of_host_code));
    read_directives(text.directives);
    branches_ = branches_of(text.directives);
    values_in_branches_.clear();
    add_declared(code, declared_);
    read_constants(code, source_.constants, Scope::file);
    read_assertions(code);
    read_kernels(code);
    for (const Token& token : code)
      if (token.text.starts_with("omp_")) source_.uses_openmp = true;
    source_.code.insert(source_.code.end(), code.begin(), code.end());
  }

  /// A constant that both branches of a condition define is a choice between their values.
  void add_constant(const Token& named, const Tokens& value, std::map<std::string, Tokens>& constants) {
    const Branch* const branch = branch_at(branches_, named.line);
    const bool is_new = constants.try_emplace(named.text, value).second;
    if (branch == nullptr) return;
    if (is_new && !branch->otherwise) values_in_branches_[named.text] = branch->end;
    const auto first = values_in_branches_.find(named.text);
    if (is_new || !branch->otherwise || first == values_in_branches_.end() || first->second != branch->begin) return;
    Tokens choice = branch->condition;
    const Tokens then = constants[named.text];
    choice.push_back({Token::Kind::sign, "?", named.line});
    choice.insert(choice.end(), then.begin(), then.end());
    choice.push_back({Token::Kind::sign, ":", named.line});
    choice.insert(choice.end(), value.begin(), value.end());
    constants[named.text] = choice;
  }

  void read_directives(const std::vector<Tokens>& directives) {
    int depth = 0;  // of conditions
    for (std::size_t i = 0; i < directives.size(); ++i) {
      const Tokens& directive = directives[i];
      if (directive.empty()) continue;
      depth += directive[0].is("endif") ? -1 : directive[0].text.starts_with("if") ? 1 : 0;
      if (directive[0].is("define") && directive.size() >= 2) {
        // What the file that includes this one has defined stays so.
        const bool guarded = i > 0 && asked_for(directives[i - 1]) == directive[1].text;
        if (!guarded || !fixed_.contains(directive[1].text)) read_definition(directive, guarded);
        if (depth == 0) fixed_.insert(directive[1].text);
      }
      if (directive[0].is("pragma") && directive.size() >= 2) {
        if (directive[1].is("omp")) read_openmp(directive);
        if (directive[1].is("unroll")) name(directive, 2);
        if (directive[1].is("GCC") && directive.size() >= 3 && directive[2].is("unroll")) name(directive, 3);
        if (directive[1].is("clang")) read_numbers(directive, {"unroll_count", "interleave_count", "vectorize_width"});
      }
      if (directive[0].is("error") && i > 0 && !asked_for(directives[i - 1]).empty())
        add_macro({asked_for(directives[i - 1])});
      const bool is_condition = directive[0].is("if") || directive[0].is("elif");
      const bool asks = std::ranges::any_of(directive, [](const Token& each) { return each.is("defined"); });
      if (is_condition && !asks) name(directive, 1, true);
    }
  }

  void read_openmp(const Tokens& directive) {
    source_.uses_openmp = true;
    read_numbers(directive, {"schedule", "num_threads", "collapse", "simdlen", "safelen"});
    for (std::size_t i = 2; i + 3 < directive.size(); ++i)
      if (directive[i].is("num_threads") && directive[i + 1].is("(") && directive[i + 3].is(")"))
        source_.thread_counts.insert(directive[i + 2].text);
  }

  /// What is in the brackets of these clauses: `num_threads(N)`, `schedule(static, N)`.
  void read_numbers(const Tokens& directive, std::initializer_list<const char*> clauses) {
    for (std::size_t i = 2; i + 1 < directive.size(); ++i) {
      const auto is_it = [&](const char* clause) { return directive[i].is(clause); };
      if (std::ranges::none_of(clauses, is_it) || !directive[i + 1].is("(")) continue;
      const bool is_schedule = directive[i].is("schedule");
      const std::size_t end = closing(directive, i + 1);
      std::size_t begin = i + 2;
      while (is_schedule && begin < end && !directive[begin].is(",")) ++begin;
      name(Tokens(directive.begin(), directive.begin() + static_cast<std::ptrdiff_t>(end)), begin);
    }
  }

  /// Words of a directive count as words of the code, those of a condition as in `if (N)`.
  void name(const Tokens& directive, std::size_t from, bool is_condition = false) {
    const auto add = [&](const char* sign, Token::Kind kind = Token::Kind::sign) {
      named_by_directives_.push_back({kind, sign, directive[0].line});
    };
    add(";");
    if (is_condition) add("if", Token::Kind::word);
    if (is_condition) add("(");
    named_by_directives_.insert(named_by_directives_.end(),
                                directive.begin() + static_cast<std::ptrdiff_t>(std::min(from, directive.size())),
                                directive.end());
    if (is_condition) add(")");
    add(";");
  }

  void read_definition(const Tokens& directive, bool guarded) {
    const Token& named = directive[1];
    Tokens value(directive.begin() + 2, directive.end());
    if (value.size() == 3 && value[0].is("(")) value = {value[1]};
    if (guarded && value.empty()) {  // the guard of a header
      declared_.insert(named.text);
    } else if (guarded && value.size() == 1 && value[0].kind != Token::Kind::text) {
      const auto number = whole_number(value[0].text);
      add_macro({named.text, number ? std::to_string(*number) : value[0].text});
    } else {
      declared_.insert(named.text);
      // The parameters of a macro with some are names, too.
      if (!value.empty() && value[0].is("("))
        for (std::size_t i = 1; i < closing(value, 0); ++i)
          if (value[i].is_word()) declared_.insert(value[i].text);
      source_.constants[named.text] = value;
      name(directive, 2);
      note_number(named, value);
    }
  }

  void note_number(const Token& named, const Tokens& value) {
    if (value.size() == 1 && value[0].kind == Token::Kind::number)
      source_.fixed_numbers.push_back(fmt::format("{} (line {})", named.text, named.line));
  }

  void add_macro(BuildMacro macro) {
    for (BuildMacro& known : source_.macros)
      if (known.name == macro.name) {
        if (known.value.empty()) known.value = macro.value;
        return;
      }
    source_.macros.push_back(std::move(macro));
  }

  enum class Scope { file, function };

  /// `constexpr int kA = 1, kB = 2 * kA;`. Those of a file are not those within its functions.
  void read_constants(const Tokens& code, std::map<std::string, Tokens>& constants, Scope scope) {
    std::size_t continued = 0;  // the comma behind the constant before
    for (std::size_t i = 2; i + 1 < code.size(); ++i) {
      if (scope == Scope::file && code[i].is("{") && code[i - 1].is(")")) i = closing(code, i);
      if (i + 1 >= code.size()) return;
      if (!code[i].is("=") || !code[i - 1].is_word()) continue;
      bool is_constant = continued > 0 && i - 2 == continued;
      for (std::size_t j = i - 1; j-- > 0 && code[j].is_word();)
        is_constant = is_constant || code[j].is("constexpr") || code[j].is("const");
      if (!is_constant) continue;
      std::size_t end = i + 1;
      for (; end < code.size() && !code[end].is(";") && !code[end].is(","); ++end)
        if (code[end].is("(") || code[end].is("{") || code[end].is("[")) end = closing(code, end);
      if (end >= code.size()) return;
      const Tokens value(code.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         code.begin() + static_cast<std::ptrdiff_t>(end));
      if (scope == Scope::file)
        add_constant(code[i - 1], value, constants);
      else
        constants.try_emplace(code[i - 1].text, value);
      note_number(code[i - 1], value);
      continued = code[end].is(",") ? end : 0;
    }
  }

  void read_assertions(const Tokens& code) {
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      if (!code[i].is("static_assert") || !code[i + 1].is("(")) continue;
      const std::size_t end = closing(code, i + 1);
      if (end >= code.size()) return;
      const bool explained = code[end - 1].kind == Token::Kind::text && code[end - 2].is(",");
      const auto first = code.begin() + static_cast<std::ptrdiff_t>(i) + 2;
      const auto last = code.begin() + static_cast<std::ptrdiff_t>(explained ? end - 2 : end);
      std::string because = explained ? code[end - 1].text.substr(1, code[end - 1].text.size() - 2) : "";
      source_.assertions.push_back({Tokens(first, last), std::move(because)});
    }
  }

  void read_kernels(const Tokens& code) {
    for (Kernel& kernel : kernels_in(code, branches_, for_gpu_)) {
      read_constants(kernel.body, kernel.constants, Scope::function);
      const bool known =
          std::ranges::any_of(source_.kernels, [&](const Kernel& each) { return each.name == kernel.name; });
      if (!known) source_.kernels.push_back(std::move(kernel));
    }
  }

  /// Names that stand where a value or a type can, and that nothing declares.
  void add_free_names() {
    const Tokens& code = source_.code;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const Token& token = code[i];
      if (!token.is_word() || declared_.contains(token.text) || is_keyword(token.text) || is_of_headers(token.text))
        continue;
      const std::string_view before = i > 0 ? std::string_view(code[i - 1].text) : "";
      const std::string_view next = i + 1 < code.size() ? std::string_view(code[i + 1].text) : "";
      const bool is_member = before == "." || before == "->" || before == "::" || next == "::";
      const bool is_called = next == "(" || next == "." || next == "->";
      const bool is_pasted = next == "##" || before == "##" || token.text.ends_with('_');
      const bool is_template = next == "<" && !std::isupper(static_cast<unsigned char>(token.text[0]));
      if (!is_member && !is_called && !is_template && !is_pasted && before != "#") add_macro({token.text});
    }
  }

  bool for_gpu_;
  KernelSource source_;
  Tokens named_by_directives_;
  DeclaredNames declared_;
  DeclaredNames fixed_;                            ///< macros that are defined whatever the build does
  std::vector<Branch> branches_;                   ///< of the file that is read
  std::map<std::string, int> values_in_branches_;  ///< of its constants that `#if` has: where its `#else` is
};

}  // namespace

KernelSource read_kernel_source(const std::filesystem::path& file, bool for_gpu) {
  return SourceReader(file, for_gpu).take();
}

}  // namespace tune::commands

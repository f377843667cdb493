#include "commands/init/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "commands/init/epilogues.h"
#include "commands/init/names_and_types.h"
#include "platform/store/sources.h"

namespace tune::commands {
namespace {

using Names = std::set<std::string, std::less<>>;

const Names kNotInTypes = {
    "return", "else",    "goto", "new",       "delete",   "throw",    "case",      "sizeof",  "if",
    "while",  "for",     "do",   "switch",    "break",    "continue", "default",   "public",  "private",
    "using",  "typedef", "asm",  "namespace", "operator", "template", "co_return", "not",     "and",
    "or",     "this",    "try",  "catch",     "true",     "false",    "nullptr",   "alignof", "static_assert"};
const Names kQualifiers = {"const",           "constexpr",
                           "static",          "extern",
                           "inline",          "volatile",
                           "register",        "mutable",
                           "restrict",        "__restrict__",
                           "__restrict",      "__shared__",
                           "__device__",      "__host__",
                           "__global__",      "__constant__",
                           "__forceinline__", "__inline__",
                           "__noinline__",    "struct",
                           "class",           "enum",
                           "union",           "typename",
                           "thread_local",    "__grid_constant__",
                           "consteval",       "constinit",
                           "friend",          "virtual"};
const Names kBuiltInTypes = {"void",   "bool",   "char",     "short",   "int",    "long",     "float",
                             "double", "signed", "unsigned", "auto",    "half",   "uint",     "uchar",
                             "ushort", "ulong",  "dim3",     "wchar_t", "__half", "_Float16", "CUtensorMap"};
const Names kOtherKeywords = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "decltype",
                              "noexcept",    "alignas",          "override",   "final",        "concept",
                              "requires",    "export",           "nodiscard",  "maybe_unused", "likely",
                              "unlikely",    "fallthrough",      "asm",        "__asm__",      "__volatile__",
                              "_Pragma"};
/// What headers of the language and of GPUs define; names that begin with `__`, `cuda`, `hip` and `omp` come on top.
const Names kOfHeaders = {"std",         "NULL",       "INFINITY",  "NAN",         "INT_MAX",
                          "INT_MIN",     "UINT_MAX",   "LONG_MAX",  "FLT_MAX",     "FLT_MIN",
                          "FLT_EPSILON", "DBL_MAX",    "DBL_MIN",   "DBL_EPSILON", "CHAR_BIT",
                          "M_PI",        "HUGE_VAL",   "warpSize",  "threadIdx",   "blockIdx",
                          "blockDim",    "gridDim",    "nvcuda",    "cg",          "cooperative_groups",
                          "stdout",      "stderr",     "EOF",       "errno",       "SIZE_MAX",
                          "INT32_MAX",   "UINT32_MAX", "INT64_MAX", "max_align_t"};

bool is_type_of_headers(std::string_view word) {
  const std::size_t last = word.size() - 1;
  const bool is_vector = word.size() > 3 && word[last] >= '1' && word[last] <= '8' &&
                         std::islower(static_cast<unsigned char>(word[0])) != 0 &&
                         std::isalpha(static_cast<unsigned char>(word[last - 1])) != 0;
  const bool is_standard =
      word.ends_with("_t") && (word.starts_with("int") || word.starts_with("uint") || word.starts_with("size") ||
                               word.starts_with("ptrdiff") || word.starts_with("char") || word.starts_with("cuda"));
  return is_standard || word.starts_with("nv_bfloat") || word.starts_with("__nv_") ||
         (is_vector && (word.starts_with("float") || word.starts_with("double") || word.starts_with("half") ||
                        word.find("int") != std::string_view::npos || word.find("char") != std::string_view::npos ||
                        word.find("short") != std::string_view::npos || word.find("long") != std::string_view::npos)) ||
         word.starts_with("__half");
}

bool is_of_headers(std::string_view word) {
  for (const std::string_view prefix : {"__", "cuda", "CUDA", "hip", "HIP", "omp_", "_mm", "CU_"})
    if (word.starts_with(prefix)) return true;
  return kOfHeaders.contains(word) || is_type_of_headers(word);
}

bool is_keyword(std::string_view word) {
  return kNotInTypes.contains(word) || kQualifiers.contains(word) || kBuiltInTypes.contains(word) ||
         kOtherKeywords.contains(word);
}

bool is_known_type(std::string_view word) { return kBuiltInTypes.contains(word) || is_type_of_headers(word); }

/// Declarations that are told from their looks: a type and a name, a list of names behind it, parameters.
class Declarations {
 public:
  Declarations(const Tokens& tokens, Names& names) : tokens_(&tokens), names_(&names) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!at(i).is_word()) continue;
      if (at(i).is("enum")) add_enumerators(i);
      if (at(i).is("goto")) names.insert(at(i + 1).text);
      if (at(i).is("template")) add_last_words(i + 1, "<");
      if (at(i).is("auto")) add_binding(i);
      if (is_introduced(i) || is_reference_to_array(i)) names.insert(at(i).text);
      if (at(i + 1).is("(")) add_parameters(i + 1);
      add_declaration(i);
    }
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token kNone;
    return i < tokens_->size() ? (*tokens_)[i] : kNone;
  }

  bool is_introduced(std::size_t i) const {
    if (i == 0) return false;
    const Token& before = at(i - 1);
    if (before.is(")")) {  // struct alignas(16) Name
      const std::size_t open = opening(*tokens_, i - 1);
      return open > 1 && (at(open - 1).is("alignas") || at(open - 1).is("__align__")) && at(i + 1).is("{");
    }
    if (before.is("namespace") || before.is("using")) return true;
    const bool is_typedef = at(i + 1).is(";") && [&] {
      for (std::size_t j = i; j-- > 0 && !at(j).is(";") && !at(j).is("}");)
        if (at(j).is("typedef")) return true;
      return false;
    }();
    return is_typedef || before.is("struct") || before.is("class") || before.is("union") || before.is("enum") ||
           before.is("typename");
  }

  /// `float (&sums)[4]`
  bool is_reference_to_array(std::size_t i) const {
    return i >= 2 && (at(i - 1).is("&") || at(i - 1).is("*")) && at(i - 2).is("(") && at(i + 1).is(")") &&
           (at(i + 2).is("[") || at(i + 2).is("("));
  }

  void add_enumerators(std::size_t i) {
    while (i < tokens_->size() && !at(i).is("{") && !at(i).is(";")) ++i;
    if (!at(i).is("{")) return;
    const std::size_t end = closing(*tokens_, i);
    for (std::size_t j = i + 1; j < end; ++j)
      if (at(j).is_word() && (at(j - 1).is("{") || at(j - 1).is(","))) names_->insert(at(j).text);
  }

  void add_binding(std::size_t i) {
    ++i;
    while (at(i).is("&") || at(i).is("&&")) ++i;
    if (!at(i).is("[")) return;
    const std::size_t end = closing(*tokens_, i);
    for (std::size_t j = i; j < end; ++j)
      if (at(j).is_word()) names_->insert(at(j).text);
  }

  /// The last word of each entry of a list in angle brackets.
  void add_last_words(std::size_t open, std::string_view bracket) {
    if (!at(open).is(bracket)) return;
    int depth = 0;
    bool has_value = false;
    for (std::size_t i = open; i < tokens_->size() && !at(i).is("{") && !at(i).is(";"); ++i) {
      if (at(i).is("<")) ++depth;
      const bool ends = at(i).is(">") && --depth == 0;
      if (at(i).is("=")) has_value = true;
      const bool is_last = at(i + 1).is(",") || at(i + 1).is("=") || at(i + 1).is(">");
      if (at(i).is_word() && is_last && !has_value) names_->insert(at(i).text);
      if (at(i).is(",")) has_value = false;
      if (ends) return;
    }
  }

  /// Of a function or lambda that is defined: `(T* x, int n) {`.
  void add_parameters(std::size_t open) {
    const std::size_t close = closing(*tokens_, open);
    const bool defined = at(close + 1).is("{") || (at(close + 1).is("const") && at(close + 2).is("{")) ||
                         at(close + 1).is("->") || (at(close + 1).is("mutable"));
    const bool control = open > 0 && kNotInTypes.contains(at(open - 1).text);
    if (!defined || control) return;
    for (std::size_t i = open + 1; i < close; ++i)
      if (at(i).is_word() && !is_keyword(at(i).text) && (at(i + 1).is(",") || i + 1 == close || at(i + 1).is("=")))
        names_->insert(at(i).text);
  }

  std::size_t after_angles(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i; j < tokens_->size(); ++j) {
      if (at(j).is("<")) ++depth;
      if (at(j).is(">") && --depth == 0) return j + 1;
      if (at(j).is(";") || at(j).is("{") || at(j).is("&&") || at(j).is("||")) break;
    }
    return i;
  }

  void add_declaration(std::size_t begin) {
    if (begin > 0 && (at(begin - 1).is(".") || at(begin - 1).is("->") || at(begin - 1).is("::"))) return;
    std::size_t i = begin;
    while (kQualifiers.contains(at(i).text)) ++i;
    const bool qualified = i > begin;
    if (!at(i).is_word() || kNotInTypes.contains(at(i).text)) return;
    const bool known = is_known_type(at(i).text);
    ++i;
    while (kBuiltInTypes.contains(at(i).text) || (at(i).is("::") && at(i + 1).is_word())) i += at(i).is("::") ? 2 : 1;
    if (at(i).is("<")) i = after_angles(i);
    while (at(i).is("::") && at(i + 1).is_word()) i += 2;
    bool is_pointer = false;
    for (; at(i).is("*") || at(i).is("&") || at(i).is("&&") || kQualifiers.contains(at(i).text); ++i)
      is_pointer = is_pointer || !at(i).is_word();
    const bool begins = begin == 0 || at(begin - 1).is(";") || at(begin - 1).is("{") || at(begin - 1).is("}");
    const bool is_clear = known || qualified || begins || at(i + 1).is(":") || at(i + 1).is("=");
    if (is_pointer && !is_clear) return;  // it may be a product
    if (!add_name(i)) return;
    add_list(i);
  }

  bool add_name(std::size_t i) {
    if (!at(i).is_word() || is_keyword(at(i).text)) return false;
    for (const std::string_view next : {"=", ";", ",", ")", "[", "{", ":", "("})
      if (at(i + 1).is(next)) {
        names_->insert(at(i).text);
        return true;
      }
    return false;
  }

  /// What follows the first name: `a = 1, *b, c[N];`
  void add_list(std::size_t i) {
    for (; i < tokens_->size() && !at(i).is(";") && !at(i).is(")") && !at(i).is("}"); ++i) {
      if (at(i).is("(") || at(i).is("[") || at(i).is("{")) {
        const bool is_function = at(i).is("(") && at(closing(*tokens_, i) + 1).is("{");
        i = closing(*tokens_, i);
        if (is_function) return;
      }
      if (!at(i).is(",")) continue;
      while (at(i + 1).is("*") || at(i + 1).is("&")) ++i;
      add_name(i + 1);
    }
  }

  const Tokens* tokens_;
  Names* names_;
};

/// The name that a condition asks for, as in `ifndef N` and `if !defined(N)`; empty: it asks for something else.
std::string asked_for(const Tokens& directive) {
  if (directive.size() >= 2 && directive[0].is("ifndef")) return directive[1].text;
  if (directive.size() >= 4 && directive[0].is("if") && directive[1].is("!") && directive[2].is("defined"))
    return directive[directive[3].is("(") && directive.size() > 4 ? 4 : 3].text;
  return "";
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
    source_.code.insert(source_.code.end(), named_by_directives_.begin(), named_by_directives_.end());
    add_free_names();
  }

  KernelSource take() { return std::move(source_); }

 private:
  void add(const SourceText& text) {
    const Tokens code = without_host_functions(text.code);
    read_directives(text.directives);
    branches_ = branches_of(text.directives);
    values_in_branches_.clear();
    Declarations(code, declared_);
    read_constants(code, source_.constants, Scope::file);
    read_assertions(code);
    read_kernels(code);
    for (const Token& token : code)
      if (token.text.starts_with("omp_")) source_.uses_openmp = true;
    source_.code.insert(source_.code.end(), code.begin(), code.end());
  }

  /// What stands between `#if X` and `#else` or `#endif`, or between these two.
  struct Branch {
    Tokens condition;
    bool otherwise = false;
    int begin = 0, end = 0;  ///< lines
  };

  /// Those of conditions with one or two branches that ask for values alone.
  static std::vector<Branch> branches_of(const std::vector<Tokens>& directives) {
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

  /// The innermost branch, as inner conditions end first; null: there is none.
  const Branch* branch_at(int line) const {
    const auto found =
        std::ranges::find_if(branches_, [&](const Branch& each) { return each.begin < line && line < each.end; });
    return found == branches_.end() ? nullptr : &*found;
  }

  /// A constant that both branches of a condition define is a choice between their values.
  void add_constant(const Token& named, const Tokens& value, std::map<std::string, Tokens>& constants) {
    const Branch* const branch = branch_at(named.line);
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

  /// Without main, and functions that launch a kernel.
  Tokens without_host_functions(const Tokens& code) {
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
      if (source_.line_of_host_code == 0) source_.line_of_host_code = code[i].line;
      while (!kept.empty() && !kept.back().is(";") && !kept.back().is("}")) kept.pop_back();  // its type
      i = end;
    }
    return kept;
  }

  /// The `{` of the function that is called so and defined here; the number of tokens if it is none.
  static std::size_t body_of_function(const Tokens& code, std::size_t name) {
    if (!code[name + 1].is("(") || kNotInTypes.contains(code[name].text)) return code.size();
    const std::size_t after = closing(code, name + 1) + 1;
    return after < code.size() && code[after].is("{") ? after : code.size();
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
      }
      if (directive[0].is("error") && i > 0 && !asked_for(directives[i - 1]).empty())
        add_macro({asked_for(directives[i - 1])});
      const bool is_condition = directive[0].is("if") || directive[0].is("elif");
      const bool asks = std::ranges::any_of(directive, [](const Token& each) { return each.is("defined"); });
      if (is_condition && !asks) name(directive, 1, true);
    }
  }

  /// What is in the brackets of `num_threads(N)`, `schedule(static, N)` and the like.
  void read_openmp(const Tokens& directive) {
    source_.uses_openmp = true;
    for (std::size_t i = 2; i + 1 < directive.size(); ++i) {
      const bool is_schedule = directive[i].is("schedule");
      const bool takes_number = is_schedule || directive[i].is("num_threads") || directive[i].is("collapse") ||
                                directive[i].is("simdlen") || directive[i].is("safelen");
      if (!takes_number || !directive[i + 1].is("(")) continue;
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
    std::size_t end_of_c = 0;
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      const bool linkage = code[i].is("extern") && code[i + 1].text == "\"C\"";
      if (linkage && i + 2 < code.size() && code[i + 2].is("{")) end_of_c = closing(code, i + 2);
      if (linkage && i + 2 < code.size() && !code[i + 2].is("{"))
        add_function(code, i + 2, true);
      else if (i < end_of_c && begins_statement(code, i) && !linkage)
        add_function(code, i, true);
      else if (for_gpu_ && i >= end_of_c && code[i].is("__global__"))
        add_function(code, i, false);
    }
  }

  static bool begins_statement(const Tokens& code, std::size_t i) {
    return i > 0 && (code[i - 1].is("{") || code[i - 1].is("}") || code[i - 1].is(";"));
  }

  /// The function that is defined from `i` on, up to the next `;` or `{`.
  void add_function(const Tokens& code, std::size_t i, bool has_c_linkage) {
    Kernel kernel;
    kernel.has_c_linkage = has_c_linkage;
    bool global = false, is_static = false;
    for (std::size_t j = i; j-- > 0 && !code[j].is(";") && !code[j].is("}") && !code[j].is("{");)
      kernel.is_template = kernel.is_template || code[j].is("template");
    for (; i + 1 < code.size() && !code[i].is(";") && !code[i].is("{"); ++i) {
      global = global || code[i].is("__global__");
      is_static = is_static || (!for_gpu_ && (code[i].is("static") || code[i].is("inline")));
      if (!code[i].is_word() || !code[i + 1].is("(")) continue;
      const std::size_t close = closing(code, i + 1);
      if (close + 1 >= code.size()) return;
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
          if (const Branch* branch = branch_at(argument.line);
              branch != nullptr && branch->begin > kernel.line && !branch->otherwise)
            argument.condition = branch->condition;
        kernel.body.assign(code.begin() + static_cast<std::ptrdiff_t>(close) + 1,
                           code.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      }
      i = close;
    }
    if (kernel.name.empty() || global != for_gpu_ || is_static) return;
    read_constants(kernel.body, kernel.constants, Scope::function);
    const bool known =
        std::ranges::any_of(source_.kernels, [&](const Kernel& each) { return each.name == kernel.name; });
    if (!known) source_.kernels.push_back(std::move(kernel));
  }

  static std::vector<KernelArgument> arguments_of(const Tokens& inside) {
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

  /// `const float* __restrict__ x`, `int n`, `float x[]`; the name is empty if there is none.
  static KernelArgument argument_of(const Tokens& piece) {
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
      if (!token.is_word() || kQualifiers.contains(token.text)) continue;
      if (!words.empty() && words.back().ends_with("::"))
        words.back() += token.text;
      else
        words.push_back(token.text);
    }
    if (words.size() > 1 && !kBuiltInTypes.contains(words.back())) {
      argument.name = words.back();
      words.pop_back();
    }
    for (const std::string& word : words) argument.type += (argument.type.empty() ? "" : " ") + word;
    return argument;
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
  Names declared_;
  Names fixed_;                                    ///< macros that are defined whatever the build does
  std::vector<Branch> branches_;                   ///< of the file that is read
  std::map<std::string, int> values_in_branches_;  ///< of its constants that `#if` has: where its `#else` is
};

}  // namespace

KernelSource read_kernel_source(const std::filesystem::path& file, bool for_gpu) {
  return SourceReader(file, for_gpu).take();
}

}  // namespace tune::commands

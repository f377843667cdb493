#include "commands/init/names_and_types.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "model/values/text.h"

namespace tune::commands {

namespace {

const std::set<std::string, std::less<>> kNotInTypes = {
    "return", "else",    "goto", "new",       "delete",   "throw",    "case",      "sizeof",  "if",
    "while",  "for",     "do",   "switch",    "break",    "continue", "default",   "public",  "private",
    "using",  "typedef", "asm",  "namespace", "operator", "template", "co_return", "not",     "and",
    "or",     "this",    "try",  "catch",     "true",     "false",    "nullptr",   "alignof", "static_assert"};
const std::set<std::string, std::less<>> kQualifiers = {"const",           "constexpr",
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
const std::set<std::string, std::less<>> kBuiltInTypes = {
    "void", "bool", "char",  "short",  "int",   "long", "float",   "double", "signed",   "unsigned",   "auto",
    "half", "uint", "uchar", "ushort", "ulong", "dim3", "wchar_t", "__half", "_Float16", "CUtensorMap"};
const std::set<std::string, std::less<>> kOtherKeywords = {
    "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "decltype",    "noexcept",
    "alignas",     "override",         "final",      "concept",      "requires",    "export",
    "nodiscard",   "maybe_unused",     "likely",     "unlikely",     "fallthrough", "asm",
    "__asm__",     "__volatile__",     "_Pragma"};
/// What headers of the language and of GPUs define; names that begin with `__`, `cuda`, `hip` and `omp` come on top.
const std::set<std::string, std::less<>> kOfHeaders = {
    "std",         "NULL",       "INFINITY",  "NAN",         "INT_MAX",
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

}  // namespace

Elements elements_of(const std::string& type) {
  static const std::map<std::string, const char*> kTypes = {
      {"float", "f32"},          {"double", "f64"},         {"half", "f16"},
      {"__half", "f16"},         {"_Float16", "f16"},       {"__nv_bfloat16", "bf16"},
      {"nv_bfloat16", "bf16"},   {"hip_bfloat16", "bf16"},  {"__hip_bfloat16", "bf16"},
      {"__nv_fp8_e4m3", "e4m3"}, {"__nv_fp8_e5m2", "e5m2"}, {"int", "s32"},
      {"int32_t", "s32"},        {"std::int32_t", "s32"},   {"unsigned", "s32"},
      {"unsigned int", "s32"},   {"uint32_t", "s32"},       {"char", "s8"},
      {"signed char", "s8"},     {"int8_t", "s8"},          {"std::int8_t", "s8"},
      {"unsigned char", "s8"},   {"uint8_t", "s8"}};
  if (const auto known = kTypes.find(type); known != kTypes.end()) return {known->second};
  if (type.size() > 1 && type.back() >= '2' && type.back() <= '4') {
    const std::string base = type.substr(0, type.size() - 1);
    if (base == "__nv_bfloat16" || base == "half" || base == "__half" || base == "float" || base == "double" ||
        base == "int" || base == "char")
      return {kTypes.at(base), type.back() - '0'};
    if (base == "__nv_bfloat16_" || base == "nv_bfloat16") return {"bf16", type.back() - '0'};
  }
  return {"f32", 1, true};
}

const char* scalar_of(const std::string& type) {
  static const std::map<std::string, const char*> kScalars = {{"int", "i32"},
                                                              {"unsigned", "i32"},
                                                              {"unsigned int", "i32"},
                                                              {"int32_t", "i32"},
                                                              {"uint32_t", "i32"},
                                                              {"uint", "i32"},
                                                              {"std::int32_t", "i32"},
                                                              {"std::uint32_t", "i32"},
                                                              {"long", "i64"},
                                                              {"long long", "i64"},
                                                              {"size_t", "i64"},
                                                              {"std::size_t", "i64"},
                                                              {"int64_t", "i64"},
                                                              {"uint64_t", "i64"},
                                                              {"std::int64_t", "i64"},
                                                              {"std::uint64_t", "i64"},
                                                              {"unsigned long", "i64"},
                                                              {"ptrdiff_t", "i64"},
                                                              {"unsigned long long", "i64"},
                                                              {"long int", "i64"},
                                                              {"float", "f32"},
                                                              {"double", "f64"}};
  const auto known = kScalars.find(type);
  return known == kScalars.end() ? nullptr : known->second;
}

bool has_other_width(const std::string& type) {
  const char* scalar = scalar_of(type);
  return (scalar != nullptr && std::string_view(scalar) == "i64") || type.find("short") != std::string::npos ||
         type.find("int16") != std::string::npos;
}

bool is_whole_number(const std::string& type) {
  const char* scalar = scalar_of(type);
  return scalar != nullptr && scalar[0] == 'i';
}

bool mentions(const std::string& expression, const std::string& name) {
  const auto in_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = expression.find(name); at != std::string::npos; at = expression.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_word(expression[at - 1])) && (end == expression.size() || !in_word(expression[end])))
      return true;
  }
  return false;
}

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string define_of_problem(const std::string& macro) {
  for (const char* name : {"type_a", "type_b", "type_c", "type_acc", "layout_a", "layout_b", "layout_c"})
    if (macro == name || macro.starts_with(std::string(name) + "_")) return name;
  return "";
}

bool is_leading_dimension(const std::string& name) {
  const std::string text = lower_case(name);
  return text == "ld" || text == "lda" || text == "ldb" || text == "ldc" || text == "ldd" ||
         text.find("stride") != std::string::npos || text.find("pitch") != std::string::npos;
}

bool is_small(const std::string& name) {
  static const std::set<std::string> kSmall = {"radius", "pad",  "steps",   "iterations", "iters",
                                               "taps",   "halo", "repeats", "order",      "window"};
  return kSmall.contains(lower_case(name));
}

bool is_thread_count(const std::string& name) {
  const std::string text = lower_case(name);
  return text == "threads" || text == "num_threads" || text == "nthreads" || text == "n_threads";
}

std::optional<std::int64_t> whole_number(std::string text) {
  std::erase(text, '\'');
  while (!text.empty() && std::string_view("uUlLzZ").find(text.back()) != std::string_view::npos) text.pop_back();
  int base = 10;
  std::size_t digits = 0;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    digits = base == 8 ? 1 : 2;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), value, base);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const bool whole = error == std::errc() && end == text.data() + text.size() && value <= kMost;
  return whole ? std::optional(value) : std::nullopt;
}

bool cannot_be_type(std::string_view word) { return kNotInTypes.contains(word); }

bool is_qualifier(std::string_view word) { return kQualifiers.contains(word); }

bool is_built_in_type(std::string_view word) { return kBuiltInTypes.contains(word); }

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

}  // namespace tune::commands

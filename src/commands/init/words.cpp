#include "commands/init/words.h"

#include <cctype>
#include <set>
#include <string>

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

#include "package/cpp_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

namespace tune::package {
namespace {

// Words of C++, macros of GCC on Linux, and the namespace whose names are used.
constexpr std::string_view kTaken[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "typeof",       "union",
    "unsigned",    "using",    "virtual",    "void",      "volatile",  "wchar_t",      "while",
    "xor",         "xor_eq",   "linux",      "unix",      "i386",      "NULL",         "std"};

}  // namespace

// Bytes that are no letters, digits or common signs are octal; so is @, which stands around the words of templates.
std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view(" _-+.,:;/()[]{}<>=*#$%&|!~^'").find(c) != std::string_view::npos;
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + '"';
}

std::string in_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '@') c = ' ';
  return text;
}

std::string identifier_of(const std::string& text) {
  std::string identifier;
  for (const char c : text) identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier[0])) != 0 ? '_' + identifier
                                                                                            : identifier;
}

std::string member_of(const std::string& name) {
  const std::string identifier = identifier_of(name);
  return std::ranges::find(kTaken, identifier) != std::end(kTaken) ? identifier + "_" : identifier;
}

}  // namespace tune::package

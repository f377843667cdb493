#include "package/cpp_text.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace tune::package {

// Bytes that are no letters, digits or common signs are octal.
std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view(" _-+.,:;/()[]{}<>=*#$%&|!~^@'").find(c) != std::string_view::npos;
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + '"';
}

std::string in_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\') c = ' ';
  return text;
}

std::string identifier_of(const std::string& text) {
  std::string identifier;
  for (const char c : text) identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier[0])) != 0 ? '_' + identifier
                                                                                            : identifier;
}

}  // namespace tune::package

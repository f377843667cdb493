#pragma once
#include <string>

namespace tune::package {

/// A literal of C++ that is this text, whatever it holds.
std::string literal(const std::string& text);
/// The text without the characters that would end a comment of one line, and without @.
std::string in_comment(std::string text);
/// The text as an identifier: other characters become `_`.
std::string identifier_of(const std::string& text);

/// The same for a member of a struct or a namespace: words of C++ get a `_`.
std::string member_of(const std::string& name);

}  // namespace tune::package

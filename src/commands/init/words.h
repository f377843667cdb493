#pragma once
#include <string_view>

namespace tune::commands {

// Words of C, C++, CUDA and HIP that a source need not declare.

/// Whether a type may not begin with it: `return`.
bool cannot_be_type(std::string_view word);
/// Whether it stands before a type and is none: `const`.
bool is_qualifier(std::string_view word);
/// Whether it is a type of the language, or a part of one's name: `unsigned`.
bool is_built_in_type(std::string_view word);
/// Whether it is a type of the language or of its headers.
bool is_known_type(std::string_view word);
bool is_keyword(std::string_view word);
/// Whether headers of the language or of GPUs define it.
bool is_of_headers(std::string_view word);

}  // namespace tune::commands

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tune::commands {

// What types and names of C, C++, CUDA and HIP mean for a tuning file.

/// The elements of a tuning file that make one of the source's.
struct Elements {
  const char* type = "f32";
  int lanes = 1;
  bool is_guess = false;
};
Elements elements_of(const std::string& type);

/// Whether elements of this type have another width than any that tuning files know.
bool has_other_width(const std::string& type);

/// How a tuning file passes a number of this type: i32, i64, f32 or f64; null: it cannot.
const char* scalar_of(const std::string& type);
bool is_whole_number(const std::string& type);

/// Whether an expression names it.
bool mentions(const std::string& expression, const std::string& name);
bool is_number(const std::string& text);
/// The value of a whole number in C: `64`, `0x40u`, `32'768`; nullopt if it is none, or too large for 32 bits.
std::optional<std::int64_t> whole_number(std::string text);
/// `type_a` of the macros `type_a` and `type_a_bf16`, which the problem of a tuning file defines; empty: it is another.
std::string define_of_problem(const std::string& macro);
/// Whether it is called as the distance between rows or columns.
bool is_leading_dimension(const std::string& name);
/// Whether it is called as a whole number that says how much is done rather than how large the data is.
bool is_small(const std::string& name);
/// Whether it is called as what says with how many threads a kernel for the CPU runs.
bool is_thread_count(const std::string& name);

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

#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tune::commands {

/// A word, number, text or sign of C, C++, CUDA or HIP.
struct Token {
  enum class Kind { word, number, text, sign };
  Kind kind = Kind::sign;
  std::string text;
  int line = 1;

  bool is(std::string_view other) const { return text == other; }
  bool is_word() const { return kind == Kind::word; }
};

using Tokens = std::vector<Token>;

/// A source file without its comments, and without what `#if 0` and conditions of other systems, such as
/// `#ifdef _WIN32`, disable. Other conditions are not evaluated: all of their branches are there.
struct SourceText {
  Tokens code;                     ///< without directives
  std::vector<Tokens> directives;  ///< each without its `#`: `define`, `N`, `16`
};

SourceText read_tokens(std::string_view text);

/// The place of the bracket that closes the one at `open`; the number of tokens if there is none.
std::size_t closing(const Tokens& tokens, std::size_t open);
/// The place of the bracket that opens what is closed at `close`; 0 if there is none.
std::size_t opening(const Tokens& tokens, std::size_t close);

}  // namespace tune::commands

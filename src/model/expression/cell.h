#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "model/values/value.h"

namespace tune {

/// What went wrong in an operation; null if nothing did.
using Fault = const char*;
inline constexpr Fault kOverflow = "overflow";
inline constexpr Fault kDivisionByZero = "division by zero";

/// A value during evaluation: like Value, but it borrows its text, so that copying never allocates.
struct Cell {
  enum class Tag : std::uint8_t { integer, real, boolean, text, pair };
  Tag tag;
  union {
    std::int64_t integer;  ///< integer, boolean (0 or 1) and the first of a pair
    double real;
    const std::string* text;
  };
  std::int64_t second;  ///< of a pair

  void set(std::int64_t value) {
    tag = Tag::integer;
    integer = value;
  }
  void set(double value) {
    tag = Tag::real;
    real = value;
  }
  void set(bool value) {
    tag = Tag::boolean;
    integer = value ? 1 : 0;
  }
  void set(Pair value) {
    tag = Tag::pair;
    integer = value.first;
    second = value.second;
  }
  void set(const std::string* value) {
    tag = Tag::text;
    text = value;
  }
  /// Python counts booleans among the integers.
  bool is_integral() const { return tag == Tag::integer || tag == Tag::boolean; }
  bool is_number() const { return is_integral() || tag == Tag::real; }
  /// Precondition: is_number().
  double to_real() const { return tag == Tag::real ? real : static_cast<double>(integer); }
};

/// Borrows the text of `value`.
Cell to_cell(const Value& value);
Value to_value(const Cell& cell);
/// Python's truth: not zero, not empty.
inline bool truth(const Cell& cell) {
  switch (cell.tag) {
    case Cell::Tag::integer:
    case Cell::Tag::boolean:
      return cell.integer != 0;
    case Cell::Tag::real:
      return cell.real != 0;
    case Cell::Tag::text:
      return !cell.text->empty();
    case Cell::Tag::pair:
      return true;
  }
  return false;
}

/// The fault of computing with `cell`; null if it is a number.
Fault not_a_number(const Cell& cell);

enum class Comparison : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };

/// Python's comparisons: numbers are compared by their exact values, texts and pairs lexicographically; values of
/// different kinds are unequal, and ordering them is a fault.
Fault compare(Comparison comparison, const Cell& left, const Cell& right, bool& result);

/// Whether `left` is in a pair or part of a text.
Fault contains(const Cell& left, const Cell& right, bool& result);

/// Whether `wanted` equals one of the elements of a list.
bool among(const Cell& wanted, std::span<const Cell> elements);

}  // namespace tune

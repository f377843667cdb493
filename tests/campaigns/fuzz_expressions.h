#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "fuzz_mutations.h"

namespace tune::fuzz {

/// A text of the expression language, and what tune makes of it: `i 5`, `f 3ff0000000000000` (the bits), `b 1`,
/// `s 726f77` (the bytes), `p 2 1`, or `fails`.
struct Evaluated {
  std::string text;
  std::string result;
};

/// A valid expression of random shape over the names below, evaluated.
Evaluated make_expression(Dice& dice);
/// A text that may be no expression; that it is refused properly is all that is looked at.
/// Whether it is one.
bool read_mutated_expression(Dice& dice);

/// Whether there is a python3.
bool has_python();
/// Compares with what Python makes of the same texts; the text of the first difference, or nothing.
std::string difference(const std::vector<Evaluated>& expressions, const std::string& folder);

}  // namespace tune::fuzz

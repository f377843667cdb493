#pragma once
#include <cstddef>
#include <string>

#include "model/statistics/comparison.h"

/// The forms of a comparison that people and CI services read.
namespace tune::report {

/// A table per problem: the best, baselines, and the `top` most important specs (0: all); then warnings and the
/// verdict. `width`: columns of the terminal, to which names are cut; 0: it is none.
std::string comparison_text(const RunComparison& comparison, std::size_t top, int width);
/// The same in GitHub's Markdown, in which no text of a result acts as Markdown or HTML.
std::string comparison_markdown(const RunComparison& comparison, std::size_t top);
/// JUnit XML: a suite per problem, and in it a test case for the best and for each spec. Regressions are failures, and
/// what could not be judged was skipped, as is the one test case of a comparison with nothing in common.
std::string comparison_junit(const RunComparison& comparison);

}  // namespace tune::report

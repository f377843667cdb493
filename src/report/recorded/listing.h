#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/summary.h"

namespace tune::report {

/// Which specs of a run are listed, in which order and with which figures.
struct ListingRules {
  std::vector<std::string> columns;  ///< their titles; empty: those of the table
  std::optional<std::string> sort;   ///< by this column; unset: as the table is
  bool descending = false;
};

/// The table of the specs alone. A column is one of the table's, a parameter, a figure or time of the CSV file, or what
/// the compiler said of the build; `met` means `met (ms)`. What has no value comes last. Throws Error(bad_input) for a
/// column that there is not.
std::string listing_text(const Summary& summary, const ListingRules& rules);

/// Specs that failed or were pruned after the build, by mesh_idx. Those with the same reason are one entry, with
/// the log of the first, and so many entries are shown; if `top` is 0, each spec.
std::string failures_text(const Summary& summary, std::size_t top);

/// Lines that a terminal of so many columns shows whole; 0: it is none.
std::string fitted(std::string_view lines, int width);

}  // namespace tune::report

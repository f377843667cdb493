#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/trial.h"

namespace tune::worker {

/// What a benchmark program said of the one case it ran.
struct ProgramResult {
  std::optional<Timing> timing;           ///< unset: it did not tell its time
  std::optional<bool> ok;                 ///< whether its result was right; unset: it did not say
  std::map<std::string, double> metrics;  ///< its other numeric columns
  std::string name;                       ///< what it calls the case; empty: nothing
};

/// Reads the result from the result file's text, or from the program's stdout if it wrote no file (nullopt).
///
/// The file is one JSON object, kbench's CSV (a header, and one row), or google-benchmark's JSON of one benchmark. On
/// stdout the result is a line that is a JSON object with a time. Columns: `time` in seconds or `met (ms)`; `iters`
/// (default 1); `min`, `mean` and `p95` in seconds (default: the time); `ok`; any other number is a metric, any other
/// text is ignored. Throws Malformed unless there is exactly one result, with each key once, and its times are finite
/// and positive.
ProgramResult read_program_result(const std::optional<std::string>& file, std::string_view output);
/// The same of a program that need not tell its time: without a file, and with nothing on stdout that names a time, the
/// result is the last line that is a JSON object, if there is one.
ProgramResult find_program_result(const std::optional<std::string>& file, std::string_view output);
/// Whether a line of stdout looks like a result: such lines are to be kept however much is printed around them.
bool may_be_result(std::string_view line);
/// Why something on stdout that looks like a result tells no time: CSV, or JSON without one, unless it has numbers and
/// the name of none says that it is a time. Empty if nothing looks so.
std::string why_no_result(std::string_view output);

}  // namespace tune::worker

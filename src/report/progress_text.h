#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tune::report {

/// How a run is going at one moment, as its progress shows it.
struct Snapshot {
  std::int64_t done = 0;              ///< specs
  std::optional<std::int64_t> total;  ///< specs to be tried, if that is known
  double share = 0;                   ///< of the sweep, or of the finals, that is over: from 0 to 1
  std::optional<double> rate;         ///< specs per second
  std::optional<double> seconds_left;

  std::string best;                            ///< figure and spec, such as `0.9844 ms (39)`; empty: there is none yet
  std::string best_settings;                   ///< `BM=128/BN=64`
  std::optional<double> best_age;              ///< seconds; unset: this run did not find it, or holds the finals
  bool best_of_sweep = false;                  ///< which the finals may not confirm
  std::map<std::string, std::int64_t> failed;  ///< how many specs, by kind

  std::string running;  ///< what runs now, such as `building 4, measuring 41`
};

/// `12/72 | 3.1/s | best 0.9844 ms (39) BM=128/BN=64, 0:12 ago | 3 failed: 2 build, 1 wrong result | building 4 | ETA
/// 1:19`
std::string plain_line(const Snapshot& snapshot);
/// The same for a terminal, on two lines of at most so many columns, the first with a bar if there are 60. What runs
/// and the parameters of the best spec are cut where they do not fit; else what comes last on its line is left out.
std::vector<std::string> terminal_lines(const Snapshot& snapshot, std::size_t columns, bool colors);

}  // namespace tune::report

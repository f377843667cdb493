#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/grid_scan.h"
#include "model/space.h"
#include "model/statistics/ranking.h"
#include "model/statistics/verdict.h"
#include "model/trial.h"
#include "model/values/natural.h"
#include "report/failure_summary.h"

namespace tune::report {

/// A figure of every measured spec beyond its times: a column of the table and of the CSV file.
struct Column {
  std::string name;
  /// NaN: this spec has none. Also asked for finalists with their finals' times, and for baselines, whose spec may
  /// have no params and whose measurement has only the median.
  std::function<double(const Spec&, const Measurement&)> value;
  bool in_table = true;    ///< else of the files alone
  std::string unit = {};   ///< the title in a table that is too wide otherwise; empty: the name
  bool objective = false;  ///< what the run optimises
};

/// `Arithmetic (GFLOPS/s)` of a problem with this many floating-point operations.
Column arithmetic_column(double flops);
/// `Efficiency (GFLOPS/W)` of such a problem, from `energy`.
Column efficiency_column(double flops);
/// A figure the worker or the program measured itself, by its name in Measurement::metrics. The device's gauges
/// (clocks, power, temperature) would fill the table with what is the same in every row, and so are kept out of it.
Column measured_column(std::string name);

/// How many devices specs were timed on, where there is a choice of them.
std::size_t devices_of(std::span<const Trial> trials);
/// Whether programs called the cases that they ran anything but `name`.
bool any_named_otherwise(std::span<const Trial> trials, std::string_view name);
/// What the column of those names is called; the specs have names of their own.
inline constexpr const char* kReportedName = "name (reported)";
/// Whether some of them had a process that had measured others before.
bool any_shared(std::span<const Trial> trials);

/// What results look like.
struct Look {
  std::string label = {};                 ///< sizes and device model, of one of several tunings
  std::string problem = {};               ///< see problem_size_text; empty: there is none, or it is not known
  std::vector<std::string> command = {};  ///< words that run one spec again once `--spec N` follows: tune --yaml F
  bool tuned = false;                     ///< order of merit and a best block; else all in mesh order
  std::size_t top = 0;                    ///< rows of specs shown when tuned; 0: all
  TimeRule time = {};                     ///< by which the sweep's times were chosen
  std::string all_in = {};                ///< the file that has all rows; empty: there is none
  int width = 0;                          ///< columns of the terminal; 0: not a terminal
  bool colors = false;
};

/// All that is said at the end of a run. Everything in it is of this run's space: trials outside it stay out.
struct Summary : Look {
  std::vector<std::string> verdict;  ///< lines that come first, the decision in the first of them
  std::optional<Decision> decision;  ///< of the verdict, if there is one
  std::string name;                  ///< of the tuning file
  std::string file;                  ///< kernel or program, as written
  bool winner = true;                ///< false: all failed in the finals
  std::optional<Natural> specs;      ///< how many specs could have been tried; unset: that is not known
  std::vector<std::string> varying;  ///< the parameters after whose values specs are called
  std::span<const Trial> trials;
  Ranking ranking;                                 ///< of `trials`
  std::map<std::int64_t, std::string> unranked;    ///< measured, but without a value of the objective: why, by mesh_idx
  PowerState other_state = PowerState::sustained;  ///< in which finalists on a GPU were also timed
  std::vector<GridScan::Pruned> pruned;            ///< before the build
  std::string best_command;                        ///< the line of the best spec, where a command is tuned
  Logs logs;                                       ///< of failed builds
  std::string run;                                 ///< the argument of tune show; empty: it cannot show this run
  std::vector<Column> columns;
  std::optional<std::string> ranked_by;  ///< the objective, unless it follows from the time
  std::vector<std::string> objectives;   ///< if they are several
  /// The winner's values of those that do not follow from the time, that of `ranked_by` first.
  std::vector<std::pair<std::string, double>> figures;
  std::vector<std::string> notes;
  double elapsed_seconds = 0;

  /// Whether no other spec could have been tried, as far as is known.
  bool tried_all() const { return !specs || *specs == Natural(std::ssize(trials)); }
};

}  // namespace tune::report

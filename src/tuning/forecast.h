#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model/statistics/finals_settings.h"
#include "model/trial.h"
#include "tuning/grid.h"

namespace tune::tuning {

/// What a run has to do, as far as that is known before it begins.
struct Work {
  std::int64_t specs = 0;                ///< that are tried at most
  std::optional<std::int64_t> builds;    ///< different ones among them; unset: too many to count them
  bool in_turn = false;                  ///< nothing is timed while something is built
  int jobs = 1, devices = 1;             ///< builds and measurements at a time
  std::optional<FinalsSettings> finals;  ///< unset: none are held
  std::optional<double> budget_seconds;  ///< when all of it ends
  int tunings = 1;                       ///< of this kind, which are to be done one after the other
};

/// How many different builds there are of so many specs of a grid; nullopt: too many specs to count them.
std::optional<std::int64_t> count_builds(const Grid& grid, std::int64_t specs);

/// What recorded trials, or the first of a run, tell of the time that all specs will take. Knows no clock.
class Forecast {
 public:
  explicit Forecast(Work work) : work_(work) {}

  /// Asks the journal, by `find`, about the specs of the grid: all of them, or many that are spread over it.
  void ask(const Grid& grid, const std::function<const Trial*(const Spec&)>& find);
  /// Takes a trial of this run.
  void add(const Trial& trial);
  /// What a build left on the disk.
  void add_artifact(std::uintmax_t bytes);

  /// `1152 specs, 1152 builds`, and how many of them the journal knows.
  std::string work_text() const;
  bool all_known() const { return exact_ && known_ == work_.specs; }
  /// Whether the trials taken are enough for an estimate.
  bool is_ready() const { return samples_ >= kFewest; }
  /// Whether a twentieth of what is to come was taken.
  bool has_a_twentieth() const { return samples_ - asked_ >= to_come() / 20; }
  /// The seconds that are to come.
  struct Range {
    double low = 0, high = 0;
  };
  /// Of one tuning, without a budget. Precondition: is_ready().
  Range range() const;
  /// Whether the middle of `range()` has left an earlier one.
  bool has_left(const Range& earlier) const;
  /// `estimate: 21 to 34 min = builds 9 min, timing 12 to 25 min with the finals; from the first 8 specs`, and above an
  /// hour what shortens that. A budget and several tunings are in it. Precondition: is_ready().
  std::string text() const;
  /// All of it, for who only asks: `72 specs, 72 builds; time unknown: the journal knows none of them`.
  std::string answer() const;

 private:
  static constexpr int kFewest = 4;
  std::string parts() const;
  Range in_budget() const;
  double to_come() const;
  double builds_to_come() const;
  double build_seconds() const;
  double disk_bytes() const;
  Range timing() const;

  Work work_;
  std::int64_t known_ = 0;
  bool exact_ = true;  ///< `known_` is counted, and not extrapolated
  bool from_journal_ = false;
  int samples_ = 0, built_ = 0;
  int asked_ = 0;  ///< of the samples: those of the journal
  double build_sum_ = 0, measure_sum_ = 0, measure_squares_ = 0;
  int artifacts_ = 0;
  double artifact_bytes_ = 0;
};

}  // namespace tune::tuning

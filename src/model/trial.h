#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/space.h"

namespace tune {

/// The stages of trying a spec, in order; `start` ends with the hello of the worker.
enum class Stage { start, build, load, check, measure };
inline constexpr std::array<std::string_view, 5> kStages = {"start", "build", "load", "check", "measure"};
constexpr std::string_view to_text(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }

/// How a failure came to be known: the worker or program reported it, its process crashed or ran out of time, or what
/// it said was no message of the protocol.
enum class Cause { reported, crashed, timed_out, protocol };
inline constexpr std::array<std::string_view, 4> kCauses = {"reported", "crashed", "timed out", "protocol"};
constexpr std::string_view to_text(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

/// Times of the launches of one spec, in seconds. The interval is the 95 % confidence interval of the median.
struct Timing {
  std::int64_t count = 0;
  double median = 0, min = 0, mean = 0, p95 = 0;
  double ci_low = 0, ci_high = 0;  ///< both 0: not known, as of programs
  bool stopped_early = false;      ///< timed less than asked for because it was slow; never a finalist
  /// Launches that took far longer than the others: beyond the upper quartile by more than one and a half times the
  /// distance of the quartiles. Mean and median of all others; 0: not known, as of programs and older records.
  std::int64_t outliers = 0;
  double kept_mean = 0, kept_median = 0;
  double chosen =
      0;  ///< what stands for the spec instead of the median (choose_time); 0: the median does; not recorded

  double typical() const { return chosen > 0 ? chosen : median; }
};

/// Which statistic of a spec's launches is its time. The finals compare paired medians of rounds regardless.
enum class Statistic { median, mean, min };
inline constexpr std::array<std::string_view, 3> kStatistics = {"median", "mean", "min"};
struct TimeRule {
  Statistic statistic = Statistic::median;
  bool without_outliers = false;
  bool operator==(const TimeRule&) const = default;
};
/// `mean without outliers`.
std::string to_text(const TimeRule& rule);
/// The rule of this text; nullopt: there is none.
std::optional<TimeRule> time_rule_named(std::string_view text);
/// Sets `chosen` to the statistic that the rule names, with outliers where it is not known without them.
void choose_time(Timing& timing, const TimeRule& rule);

/// A build: hashes of its inputs and of the artifact, and what the compiler said of it.
struct BuildInfo {
  std::string key;                           ///< hash of source, headers, flags, definitions, compiler and architecture
  std::string artifact_hash;                 ///< hash of the bytes that were timed
  double seconds = 0;                        ///< 0 if it was in the store
  std::map<std::string, double> properties;  ///< registers, spills, shared, occupancy; code, stack on the CPU
  std::string code = {};  ///< hash of the artifact and of how it is launched; empty if nothing was built
};

/// A spec that was built, checked and timed.
struct Measurement {
  Timing timing;
  bool checked = false;  ///< the result was compared with a reference (program mode: the program said ok)
  double max_error = 0;  ///< largest error over its tolerance; at most 1
  std::map<std::string, double> metrics;  ///< the program's own columns; clocks, power and such of the device
  BuildInfo build;
  std::string device = {};   ///< id of the device it was timed on, where there can be several
  double scaled = 1;         ///< what its times were multiplied by to compare with those of the run's first device
  double clean_seconds = 0;  ///< see wire::Measured; 0: not known
  bool shared = false;       ///< its process had measured other specs before
  std::string name = {};     ///< what a program calls the case that it ran
};

/// The metrics of a command that is timed as a whole: times in milliseconds, memory in MiB. Nothing else has them.
inline constexpr const char *kUserTime = "user_ms", *kSystemTime = "system_ms", *kPeakMemory = "peak_mib";
/// Whether it is the time of a whole command.
bool is_of_whole_command(const Measurement& measurement);

/// Multiplies its times by a factor, and notes that in `scaled`.
void scale_times(Measurement& measurement, double factor);

/// The facts of a failure. Decisions are made on these; messages are for people. All are 0 or false where nothing is
/// known, as of a wrong result, or of a failure that an older version of tune recorded.
struct FailureFacts {
  int exit_code = 0;               ///< with which the worker, the compiler or the program ended
  int signal = 0;                  ///< which ended it
  double limit_seconds = 0;        ///< the time that it was given, if it timed out
  bool machine_suspected = false;  ///< the machine may be to blame: short of memory, a full disk, a missing program
  bool not_tried = false;          ///< it was not built, because the run was not to build anything
  bool operator==(const FailureFacts&) const = default;
};

/// The facts that the exit code and signal of a process tell. The machine is suspected of SIGKILL, and of the exit
/// codes by which a shell or a loader says that a file cannot be executed (126) or is not there (127).
FailureFacts facts_of_end(int exit_code, int signal);

/// Why a spec could not be built, run or accepted, and in which stage.
struct Failure {
  Failure() = default;
  Failure(Stage at, Cause why, std::string text, std::string output = {}, FailureFacts known = {});

  Stage stage = Stage::start;
  Cause cause = Cause::reported;
  std::string message;
  std::string log;  ///< captured output, cut in the middle
  FailureFacts facts = {};
  /// What failures of the same cause have in common: the headline, of a build without the numbers that stand alone
  /// after the word `error`, because sizes that do not fit differ from spec to spec. It is made from stage and message
  /// when the failure is; a failure of another kind is a new one. Records do not have it.
  std::string kind;

  /// Whether a result was compared and is not right; not: the check could not be made, as for lack of memory.
  bool is_wrong_result() const { return stage == Stage::check && cause == Cause::reported && !facts.machine_suspected; }
  /// The message's first line; the rest is detail.
  std::string headline() const { return message.substr(0, message.find('\n')); }
  /// Makes it a failure of another kind.
  void add_to_headline(std::string_view text);
};

/// Whether two failures have the same stage, cause and facts, whatever their messages are.
bool alike(const Failure& a, const Failure& b);

/// Built, but excluded by prune_after_build.
struct PrunedAfterBuild {
  std::string reason;
  BuildInfo build;
};

using Outcome = std::variant<Measurement, Failure, PrunedAfterBuild>;

/// A spec that was tried, and its outcome.
struct Trial {
  Spec spec;
  Outcome outcome;
  double seconds = 0;          ///< from its start to its outcome
  bool recorded = false;       ///< answered from the journal, not run now
  double measure_seconds = 0;  ///< the part of `seconds` that it had the device; 0 if that is not known

  const Measurement* measurement() const { return std::get_if<Measurement>(&outcome); }
  const Failure* failure() const { return std::get_if<Failure>(&outcome); }
  /// Whether it failed for a reason that may be gone in another run of the same.
  bool may_work_again() const {
    return failure() != nullptr && (failure()->facts.machine_suspected || failure()->facts.not_tried);
  }
  bool is_wrong() const { return failure() != nullptr && failure()->is_wrong_result(); }
};

/// The trial of this spec; null: there is none.
const Trial* find_trial(std::span<const Trial> trials, std::int64_t mesh_idx);

/// What the workers are doing, for the progress line.
struct Activity {
  int building = 0;
  std::vector<std::int64_t> measuring;  ///< mesh_idx, one per device
};

}  // namespace tune

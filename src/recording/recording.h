#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/device.h"
#include "model/space.h"
#include "model/statistics/finals.h"
#include "model/trial.h"
#include "wire/records.h"

namespace tune::recording {

/// What one spec did in a recorded run, and what it cost. Times other than the median may be the median itself where
/// the recording holds no more; figures other than the time stand in Measurement::metrics under the recording's own
/// names.
struct RecordedTrial {
  std::vector<Setting> settings;  ///< in the order of Recording::parameters
  Outcome outcome;
  double build_seconds = 0;
  double measure_seconds = 0;  ///< checks and all launches
  std::int64_t mesh_idx = -1;  ///< of our own journal
  double at = 0;               ///< of our own journal: seconds of all its sweeps before the outcome; 0: it does not say
  std::int64_t listed_idx = -1;       ///< the number in a CSV file, which may have been converted from another format
  std::int64_t place = 0;             ///< of a CSV file: in the table, 1 is the best; 0: not known
  double finals_seconds = 0;          ///< of a CSV file: in the finals; 0: it was not in them
  std::vector<double> launches = {};  ///< of Kernel Tuner's and T4 files: seconds of each launch
};

/// What a recording keeps of a trial.
RecordedTrial to_recorded(Trial trial);

/// One run of a journal, which may hold several.
struct JournalRun {
  std::size_t number = 1, count = 1;  ///< which one it is; how many there are
  wire::RunRecord begin;
  std::optional<wire::ResultsRecord>
      results;                ///< unset: it ended before it printed any, or an older version did not say
  std::vector<Trial> trials;  ///< those of the results, as they were then
};

/// A recorded run: a search space and what was found in it. Texts are empty where the recording does not say.
struct Recording {
  enum class Format { journal, kernel_tuner, t4, csv };
  Format format = Format::journal;
  std::string file;                      ///< for messages
  Device device;                         ///< often its name alone
  Backend backend = Backend::automatic;  ///< of our own journal; automatic: it does not say
  std::string kernel;                    ///< of our own journal: the tuning file's name
  std::string problem;                   ///< 4096x4096; of a program, if it was one of several shapes: M=4096 N=4096
  std::string date = {};                 ///< of our own journal: when its last run began
  double flops = 0, bytes = 0, peak_flops = 0;  ///< see wire::RunRecord; 0: it does not say
  std::vector<Parameter> parameters;            ///< every value that occurs, in the recording's order
  std::vector<std::string> objectives;          ///< `time` if the recording names none
  std::optional<TimeRule> time = {};            ///< what its times are, or were printed; unset: it does not say
  std::vector<std::string> verdict = {};        ///< of our own journal: lines that the last run printed
  std::vector<RecordedTrial> trials;            ///< each spec once: the last one counts
  std::optional<Finals> finals;                 ///< of our own journal: the last ones
  bool has_older_finals = false;       ///< of our own journal: the last ones are of an older version, and left out
  wire::DamagedLines damaged = {};     ///< of our own journal: left out
  int protocol = wire::kProtocol;      ///< of our own journal: that of the version which wrote to it last
  std::size_t problems = 1;            ///< of read_run: how many the journal is of
  std::optional<JournalRun> run = {};  ///< of read_run
};

/// The file of a run that is named by it or by its PREFIX: `best` means `best.jsonl` unless something of that
/// name is there and no `best.jsonl`.
std::filesystem::path run_file(const std::filesystem::path& named);

/// The journal of a list of shapes, and one of them.
struct ShapeOfJournal {
  std::filesystem::path file;
  std::string shape;  ///< M64-N64-K64
};
/// What `best-M64-N64-K64` means where only `best.jsonl` is there; nullopt: there is no such file.
std::optional<ShapeOfJournal> shape_of_journal(const std::filesystem::path& prefix);

/// Reads what was recorded by tune (a journal, a CSV file), by Kernel Tuner (a cache file, closed or cut off) or in the
/// T4 format; the format follows from the content. Files compressed by gzip or bzip2 are understood. Of a journal there
/// is one recording for each problem, in the order of their last runs; those without a trial are left out, unless all
/// are. Throws Error(bad_input) with file, line and cause for what is none of these, holds no trial, or times that are
/// negative, zero or no numbers; of a journal such records are left out.
std::vector<Recording> read_recordings(const std::filesystem::path& path);
/// The same of a text; `file` is its name in messages.
std::vector<Recording> parse_recordings(std::string_view text, const std::string& file);
/// The last of these with what the runs of a journal have printed of it: the order of the parameters, metrics that were
/// computed, GFLOP/s where the operations of the problem are known, the objectives of the last one, and the times that
/// it chose.
Recording read_printed_recording(const std::filesystem::path& path);
/// Kernel Tuner's name of an objective that tune computes itself: GFLOP/s for gflops.
std::string figure_name(const std::string& objective);

/// The outcome with the time that was printed: a journal has all that could have been.
Outcome printed_outcome(const Recording& recording, const RecordedTrial& trial);

/// A text that only values which are equal as in Python, or written the same, share: 32, 32.0, "32"; true, 1.
std::string key_text(const Value& value);
/// A text that only the same values share: 1, 1.0, "1" and true have different ones, True and true have one.
std::string exact_text(const Value& value);
/// Which run of a journal is meant.
struct RunChoice {
  std::optional<std::int64_t> number;  ///< the first one is 1; unset: the last
  bool tuned = false;                  ///< of those only that sought the best, and were no parts of a run
  std::string shape = {};              ///< the last one for this: M64-N64-K64, as in names of files; empty: any
};
/// Reads one run. What a journal holds of other runs is left out if the run has told its results; if not, the trials
/// are those of its problem up to the end of that run. Throws Error(bad_input) if there is no run of this number, or
/// for this shape.
Recording read_run(const std::filesystem::path& path, const RunChoice& choice);

/// Finds the trials of a recording by parameter values, whatever the order of the settings; 32, 32.0 and true, 1 are
/// the same, unless the recording has both as values of one parameter. Parameters with a single value need not be
/// named.
class RecordedTrials {
 public:
  /// `recording` must outlive this.
  explicit RecordedTrials(const Recording& recording);
  const RecordedTrial* find(std::span<const Setting> settings) const;

 private:
  struct Telling {
    const Parameter* parameter;
    bool exact;  ///< values that key_text does not tell apart are among those of the parameter
  };
  std::string key(std::span<const Setting> settings) const;

  const Recording* recording_;
  std::vector<Telling> telling_;  ///< the parameters with several values
  std::unordered_map<std::string, const RecordedTrial*> by_key_;
};

}  // namespace tune::recording

#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/grid_scan.h"
#include "model/plan.h"
#include "model/statistics/finals.h"
#include "model/trial.h"
#include "wire/messages.h"

/// The lines of a journal: one JSON object each, told apart by the field "record". Nothing here does I/O.
namespace tune::wire {

/// A run began: who holds the journal, and what machine and compiler its records are of.
struct RunRecord {
  int protocol = kProtocol;
  std::string name;  ///< of the tuning file
  std::vector<std::string> command;
  std::string host;
  int process = 0;
  Hello hello;
  std::string problem = {};  ///< 4096x4096x4096; see problem_size_text
  std::string date = {};     ///< when it began: 2026-11-21 10:44:42.236642+00:00; empty: an older version did not say
  bool fresh = false;        ///< what was recorded before was not to count for it
  std::string shape = {};    ///< of a list of shapes: M=4096 N=4096 K=4096
  /// The names of the parameters in the order of the grid, which the records of trials do not tell; empty: an older
  /// version did not say.
  std::vector<std::string> parameters = {};
  /// Of the problem: its operations and bytes, and the operations per second that the device can do at most for its
  /// types; 0: not known, or an older version did not say.
  double flops = 0, bytes = 0, peak_flops = 0;
};

/// A spec was tried. `id` is its identity: see RequestFactory::trial_id.
struct TrialRecord {
  std::string id;
  Trial trial;
  double at = 0;  ///< seconds after the sweep began; 0: an older version did not say
};

/// Finals were held; `id` is the hash of who took part and how.
struct FinalsRecord {
  std::string id;
  Finals finals;
};

/// Something begins to run on a device, in whose place nothing else runs until its outcome or another such record is
/// there: a spec, by its trial's identity; finals, by theirs; or one contender in its turn, by both.
struct StartedRecord {
  std::string id;
  std::int64_t mesh_idx = -1;  ///< of a spec, for who reads the file; else -1
  int device = 0;              ///< its place among the run's
};

/// The run ended as it or its user meant it to: that speaks against nothing that was started and has no outcome.
struct EndedRecord {
  bool complete = false;  ///< a fresh run has done all that it was to do
};

/// A process of its own did not confirm what a shared one had measured: `why` says how. Runs of the
/// same kernel, problem and device that continue this journal share no processes, and what shared ones measured does
/// not hold for them.
struct DistrustRecord {
  std::string why;
};

/// A run has printed its results: what they say, as far as the records of its trials do not tell. So they can be
/// printed again without the tuning file.
struct ResultsRecord {
  /// A spec of the run, with its number in the grid of then.
  struct Tried {
    std::string id;
    std::int64_t mesh_idx = -1;
    std::map<std::string, double> metrics = {};  ///< those that were computed
  };

  std::string file;  ///< kernel or program, as written
  Backend backend = Backend::automatic;
  CommandLine run = {};  ///< of a command that is tuned
  double flops = 0, bytes = 0;
  PowerState state = PowerState::burst;
  TimeRule time = {};
  std::vector<std::string> objectives = {"time"};
  std::vector<Metric> metrics = {};                         ///< without expressions
  std::vector<std::vector<tune::Parameter>> mappings = {};  ///< the grid
  bool tuned = false;
  bool part = false;                      ///< of --partition: other runs have the other parts
  std::vector<std::string> command = {};  ///< with `--spec N` after it, runs one spec again
  std::string specs = {};                 ///< how many could have been tried
  std::int64_t default_idx = -1;          ///< today's configuration; -1: none
  std::vector<Tried> trials = {};
  std::optional<Finals> finals = {};  ///< with the computed metrics of those who took part
  bool finals_interrupted = false;
  std::vector<GridScan::Pruned> pruned = {};
  std::map<std::int64_t, std::string> unranked = {}, logs = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> verdict = {};  ///< its lines
  double elapsed_seconds = 0;
};

using Record =
    std::variant<RunRecord, TrialRecord, FinalsRecord, StartedRecord, EndedRecord, DistrustRecord, ResultsRecord>;

/// The record holds finals that an older version wrote: their rounds have no numbers.
class OlderFinals : public Malformed {
 public:
  using Malformed::Malformed;
};

/// One line, without the newline.
std::string encode(const Record& record);
/// Throws OlderFinals for finals of an older version, and Malformed with a readable reason if the line is not a record
/// or if the record is impossible: for example, if a time is not positive, or if a contender in finals has neither
/// failed nor lost but lacks rounds.
Record decode_record(std::string_view line);

/// The lines of a journal that are not records.
class DamagedLines {
 public:
  void add(std::int64_t line, const std::string& why);
  std::int64_t count() const { return count_; }
  void clear() { *this = {}; }
  /// A sentence for each, such as `out.jsonl:7: this line is not a valid record and is ignored: ...`; for the last of
  /// many one.
  std::vector<std::string> texts(const std::string& file) const;

 private:
  std::vector<std::string> first_;  ///< `7: this is ...`
  std::int64_t count_ = 0;
};

}  // namespace tune::wire

#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/statistics/ranking.h"
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
  /// Of the problem: its operations and bytes, and the operations per second that the device can do at most for its
  /// types; 0: not known, or an older version did not say.
  double flops = 0, bytes = 0, peak_flops = 0;
};

/// A spec was tried. `id` is its identity: see Requests::trial_id.
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
  std::int64_t mesh_idx = -1;  ///< of a spec; else -1
  int device = 0;              ///< its place among the run's
};

/// The run ended as it or its user meant it to: that speaks against nothing that was started and has no outcome.
struct EndedRecord {
  bool complete = false;  ///< a fresh run has done all that it was to do
};

using Record = std::variant<RunRecord, TrialRecord, FinalsRecord, StartedRecord, EndedRecord>;

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

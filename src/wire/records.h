#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/ranking.h"
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
};

/// A spec was tried. `id` is its identity: see Requests::trial_id.
struct TrialRecord {
  std::string id;
  Trial trial;
};

/// Finals were held; `id` is the hash of who took part and how.
struct FinalsRecord {
  std::string id;
  Finals finals;
};

using Record = std::variant<RunRecord, TrialRecord, FinalsRecord>;

/// One line, without the newline.
std::string encode(const Record& record);
/// Throws Malformed.
Record decode_record(std::string_view line);

}  // namespace tune::wire

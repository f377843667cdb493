// Our own journal. A journal may hold several runs, of several problems and devices: those of one problem, kernel and
// device are one recording.
#include <algorithm>

#include "interop/recording_text.h"
#include "wire/records.h"

namespace tune::interop {
namespace {

/// What a run was for. A program does not know its problem, but a list of shapes does.
std::string problem_of_run(const wire::RunRecord& run) { return run.problem.empty() ? run.shape : run.problem; }

/// Whether two runs are parts of one recording.
bool continues(const wire::RunRecord& run, const wire::RunRecord& other) {
  return run.name == other.name && problem_of_run(run) == problem_of_run(other) &&
         run.hello.device.name == other.hello.device.name;
}

RecordedTrial to_recorded(Trial trial) {
  RecordedTrial recorded;
  recorded.settings = std::move(trial.spec.params);
  recorded.mesh_idx = trial.spec.mesh_idx;
  if (const auto* measurement = trial.measurement()) {
    recorded.build_seconds = measurement->build.seconds;
    recorded.measure_seconds = measurement->timing.mean * static_cast<double>(measurement->timing.count);
  } else if (const auto* pruned = std::get_if<PrunedAfterBuild>(&trial.outcome)) {
    recorded.build_seconds = pruned->build.seconds;
  }
  if (trial.measure_seconds > 0) recorded.measure_seconds = trial.measure_seconds;
  recorded.outcome = std::move(trial.outcome);
  return recorded;
}

/// A journal, record by record, each with the number of its run.
struct JournalRecords {
  std::vector<std::pair<std::size_t, wire::TrialRecord>> trials;
  std::vector<wire::RunRecord> runs;
  std::vector<std::pair<std::size_t, std::optional<Finals>>> finals;  ///< of older versions nothing
  wire::DamagedLines damaged;
  double earlier = 0, latest = 0;  ///< seconds of the sweeps before this one, and until now
};

void take_trial(wire::TrialRecord record, JournalRecords& journal) {
  const Measurement* measurement = record.trial.measurement();
  if (measurement != nullptr && !is_time(measurement->timing.median))
    throw wire::Malformed("its time is not positive, or one that no launch takes");
  if (record.at > 0) record.at = journal.latest = std::max(journal.latest, journal.earlier + record.at);
  journal.trials.emplace_back(journal.runs.size(), std::move(record));
}

void take_line(std::string_view line, JournalRecords& journal) {
  try {
    wire::Record record = wire::decode_record(line);
    if (auto* run = std::get_if<wire::RunRecord>(&record)) {
      journal.runs.push_back(std::move(*run));
      journal.earlier = journal.latest;
    }
    if (auto* trial = std::get_if<wire::TrialRecord>(&record)) take_trial(std::move(*trial), journal);
    if (auto* held = std::get_if<wire::FinalsRecord>(&record))
      journal.finals.emplace_back(journal.runs.size(), std::move(held->finals));
  } catch (const wire::OlderFinals&) {
    journal.finals.emplace_back(journal.runs.size(), std::nullopt);
  }
}

JournalRecords records_of(std::string_view text) {
  JournalRecords journal;
  std::int64_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;  // torn
    try {
      take_line(text.substr(begin, end - begin), journal);
    } catch (const wire::Malformed& malformed) {
      if (journal.runs.empty())
        throw BadJson(text.data() + begin, std::string("this is no record of a journal: ") + malformed.what());
      journal.damaged.add(line, malformed.what());
    }
    begin = end + 1;
  }
  if (journal.runs.empty()) throw BadJson(text.data(), "the journal names no run");
  return journal;
}

/// All that is recorded of what the run `last` was for.
Recording recording_of(const JournalRecords& journal, const wire::RunRecord& last) {
  Recording recording;
  recording.damaged = journal.damaged;
  recording.device = last.hello.device;
  recording.kernel = last.name;
  recording.problem = problem_of_run(last);
  recording.protocol = last.protocol;
  recording.date = last.date;
  recording.flops = last.flops;
  recording.bytes = last.bytes;
  recording.peak_flops = last.peak_flops;
  const auto is_part = [&](std::size_t run) { return run > 0 && continues(journal.runs[run - 1], last); };
  for (const auto& [run, held] : journal.finals) {
    if (!is_part(run)) continue;
    recording.has_older_finals = !held;
    recording.finals = held;
  }
  for (const auto& [run, record] : journal.trials) {
    if (!is_part(run)) continue;
    recording.trials.push_back(to_recorded(record.trial));
    recording.trials.back().at = record.at;
    for (const Setting& setting : recording.trials.back().settings) add_value(recording.parameters, setting);
  }
  return recording;
}

}  // namespace

std::vector<Recording> read_journal(std::string_view text) {
  const JournalRecords journal = records_of(text);
  std::vector<const wire::RunRecord*> lasts;
  for (const wire::RunRecord& run : journal.runs) {
    std::erase_if(lasts, [&](const wire::RunRecord* last) { return continues(*last, run); });
    lasts.push_back(&run);
  }
  std::vector<Recording> recordings;
  for (const wire::RunRecord* last : lasts) recordings.push_back(recording_of(journal, *last));
  return recordings;
}

}  // namespace tune::interop

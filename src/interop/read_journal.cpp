// Our own journal. A journal may hold several runs, of several problems and devices: the last run's count.
#include <algorithm>

#include "interop/recording_text.h"
#include "wire/records.h"

namespace tune::interop {
namespace {

/// What has to be the same for two runs to be parts of one recording.
bool continues(const wire::RunRecord& run, const wire::RunRecord& other) {
  return run.name == other.name && run.problem == other.problem && run.hello.device.name == other.hello.device.name;
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

}  // namespace

Recording read_journal(std::string_view text) {
  std::vector<std::pair<std::size_t, wire::TrialRecord>> trials;  // with the number of the run
  std::vector<wire::RunRecord> runs;
  std::vector<std::pair<std::size_t, std::optional<Finals>>> finals;  // likewise; of older versions nothing
  wire::DamagedLines damaged;
  double earlier = 0, latest = 0;  // seconds of the sweeps before this one, and until now
  std::int64_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;  // torn
    try {
      wire::Record record = wire::decode_record(text.substr(begin, end - begin));
      if (auto* run = std::get_if<wire::RunRecord>(&record)) {
        runs.push_back(std::move(*run));
        earlier = latest;
      }
      if (auto* trial = std::get_if<wire::TrialRecord>(&record)) {
        const Measurement* measurement = trial->trial.measurement();
        if (measurement != nullptr && !is_time(measurement->timing.median))
          throw wire::Malformed("its time is not positive, or one that no launch takes");
        if (trial->at > 0) latest = std::max(latest, earlier + trial->at);
        trials.emplace_back(runs.size(), std::move(*trial));
        trials.back().second.at = trial->at > 0 ? latest : 0;
      }
      if (auto* held = std::get_if<wire::FinalsRecord>(&record))
        finals.emplace_back(runs.size(), std::move(held->finals));
    } catch (const wire::OlderFinals&) {
      finals.emplace_back(runs.size(), std::nullopt);
    } catch (const wire::Malformed& malformed) {
      if (runs.empty())
        throw BadJson(text.data() + begin, std::string("this is no record of a journal: ") + malformed.what());
      damaged.add(line, malformed.what());
    }
    begin = end + 1;
  }
  if (runs.empty()) throw BadJson(text.data(), "the journal names no run");
  Recording recording;
  recording.damaged = std::move(damaged);
  const wire::RunRecord& last = runs.back();
  recording.device = last.hello.device;
  recording.kernel = last.name;
  recording.problem = last.problem;
  recording.date = last.date;
  recording.flops = last.flops;
  recording.bytes = last.bytes;
  recording.peak_flops = last.peak_flops;
  for (auto& [run, held] : finals) {
    if (run == 0 || !continues(runs[run - 1], last)) continue;
    recording.has_older_finals = !held;
    recording.finals = std::move(held);
  }
  for (auto& [run, trial] : trials) {
    if (run == 0 || !continues(runs[run - 1], last)) continue;
    recording.trials.push_back(to_recorded(std::move(trial.trial)));
    recording.trials.back().at = trial.at;
    for (const Setting& setting : recording.trials.back().settings) add_value(recording.parameters, setting);
  }
  return recording;
}

}  // namespace tune::interop

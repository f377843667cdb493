#include "commands/results/journal_text.h"

#include "wire/records.h"

namespace tune::commands {
namespace {

std::string id_of(const recording::RecordedTrial& trial) {
  std::string id = "converted";
  for (const Setting& setting : trial.settings) id += "/" + setting.name + "=" + to_text(setting.value);
  return id;
}

}  // namespace

std::string to_journal(const recording::Recording& recording, const std::vector<std::string>& command) {
  wire::RunRecord run;
  run.name = recording.kernel;
  run.problem = recording.problem;
  for (const Parameter& parameter : recording.parameters) run.parameters.push_back(parameter.name);
  run.date = recording.date;
  run.flops = recording.flops;
  run.bytes = recording.bytes;
  run.peak_flops = recording.peak_flops;
  run.command = command;
  run.hello.device = recording.device;
  run.hello.backend = Backend::automatic;
  std::string text = encode(run) + "\n";
  for (const recording::RecordedTrial& recorded : recording.trials) {
    Trial trial{Spec{-1, recorded.settings}, recorded.outcome, recorded.build_seconds + recorded.measure_seconds};
    trial.measure_seconds = recorded.measure_seconds;
    // A journal's failures do not tell the seconds of the build apart.
    if (auto* measurement = std::get_if<Measurement>(&trial.outcome))
      measurement->build.seconds = recorded.build_seconds;
    else
      trial.measure_seconds += recorded.build_seconds;
    text += encode(wire::TrialRecord{id_of(recorded), std::move(trial), recorded.at}) + "\n";
  }
  if (recording.finals) text += encode(wire::FinalsRecord{"converted", *recording.finals}) + "\n";
  return text;
}

}  // namespace tune::commands

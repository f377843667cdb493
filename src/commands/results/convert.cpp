#include <fmt/format.h>

#include <sstream>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "commands/results/journal_text.h"
#include "model/values/escaped_text.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "recording/foreign/kernel_tuner_cache.h"
#include "recording/foreign/t4.h"
#include "recording/recorded_space.h"
#include "report/csv.h"

namespace tune::commands {
namespace {

/// `tune convert`.
struct ConvertOptions {
  std::filesystem::path input, output;
  std::optional<std::string> to;   ///< journal, kernel-tuner, t4 or csv; unset: by the output's name
  std::vector<std::string> typed;  ///< the command line
};

void bind(cli::Command& command, ConvertOptions& options) {
  command.path("IN", options.input, "FILE", "Journal, Kernel Tuner cache, T4 results or CSV; may be .gz or .bz2")
      .required()
      .files(kRecordings);
  command.path("OUT", options.output, "FILE", "By its name: .jsonl .json .t4.json .csv").required();
  const auto to = [&](const std::string& text) { options.to = text; };
  command.choice("--to", to, "journal|kernel-tuner|t4|csv", "The format, instead of by the name");
  command.typed(options.typed);
}

using Format = recording::Recording::Format;

Format format_of(const ConvertOptions& options) {
  const std::string name = options.to ? *options.to : options.output.filename().string();
  if (name == "journal" || name.ends_with(".jsonl")) return Format::journal;
  if (name == "csv" || name.ends_with(".csv")) return Format::csv;
  if (name == "t4" || name.ends_with(".t4.json") || name.ends_with("_T4.json")) return Format::t4;
  if (name == "kernel-tuner" || name.ends_with(".json")) return Format::kernel_tuner;
  throw Error(ExitCode::bad_input, options.output.string() +
                                       ": the format does not follow from the name (.jsonl .json .t4.json .csv); say "
                                       "it with --to journal, kernel-tuner, t4 or csv");
}

std::string to_csv(const recording::Recording& recording) {
  std::ostringstream text;
  std::vector<std::string> names;
  for (const Parameter& parameter : recording.parameters) names.push_back(parameter.name);
  std::vector<report::Column> columns;
  for (const std::string& figure : recording::figures_of(recording)) columns.push_back(report::measured_column(figure));
  std::vector<Trial> trials;
  for (const recording::RecordedTrial& trial : recording.trials)
    trials.push_back({Spec{std::ssize(trials), trial.settings}, trial.outcome, 0, true});
  report::Csv csv(text, recording.kernel, std::move(names), std::move(columns),
                  {.several_devices = report::devices_of(trials) > 1,
                   .shared_processes = report::any_shared(trials),
                   .time = recording.time.value_or(TimeRule())});
  for (const Trial& trial : trials) csv.add(trial);
  return text.str();
}

ExitCode convert(const ConvertOptions& options) {
  const Format format = format_of(options);
  must_not_be_input(options.output, std::span(&options.input, 1));
  const recording::Recording recording = recording::read_printed_recording(options.input);
  for (const std::string& text : recording.damaged.texts(recording.file)) print_wrapped("note: " + text);
  std::string text;
  switch (format) {
    case Format::journal:
      text = to_journal(recording, options.typed);
      break;
    case Format::kernel_tuner:
      text = recording::to_kernel_tuner(recording, platform::timestamp());
      break;
    case Format::t4:
      text = recording::to_t4(recording, platform::timestamp());
      break;
    case Format::csv:
      text = to_csv(recording);
      break;
  }
  platform::write_file(options.output, text);
  const std::string report =
      fmt::format("{}: {} specs of {}{}", options.output.string(), recording.trials.size(),
                  recording.kernel.empty() ? "an unnamed kernel" : recording.kernel,
                  recording.device.name.empty() ? "" : fmt::format(" on {}", recording.device.name));
  platform::print(line_with_escapes(report) + "\n");
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kConvert = cli::command_spec<ConvertOptions, bind, convert>(
    "convert", "Write a recorded run in another format: tune convert IN OUT");

}  // namespace tune::commands

#pragma once
// The readers behind read_recordings, one per format. Each leaves Recording::file, Parameter::kind and repeated specs
// to it, and throws BadJson.
#include <string_view>

#include "recording/recording.h"
#include "recording/text/json_text.h"

namespace tune::recording {

/// Throws the error that a reader has found at `at` in the text; its message begins with the file and the line.
[[noreturn]] void throw_bad_recording(const std::string& file, std::string_view text, const char* at,
                                      const std::string& why);

Recording read_kernel_tuner(std::string_view text);
Recording read_t4(std::string_view text);
/// One recording for each problem and device, in the order of their last runs.
std::vector<Recording> read_journal(std::string_view text);
/// The last of them, as read_printed_recording has it; reports what the others hold if it has no trial and they have.
Recording read_printed_journal(std::string_view text);
/// One run of a journal alone; see read_run.
Recording read_journal_run(std::string_view text, const std::string& file, const RunChoice& choice);
Recording read_csv(std::string_view text);

/// Seconds that no build and no measurement takes.
constexpr double kLongest = 1e15;
/// Whether a launch can have taken this many seconds; greater numbers could not be written again.
bool is_time(double seconds);
/// A time in seconds from one in milliseconds, if it is one that a measurement can have. Throws BadJson.
double to_seconds(std::string_view milliseconds);
/// A measurement from its recorded time and those of its launches, which may be missing; in seconds.
Timing timing_of(double seconds, std::vector<double> launches);
/// The failure that Kernel Tuner calls by this name.
Failure failure_of(const std::string& name);
/// By the names that files of our own use; nullopt: none of them.
std::optional<Stage> stage_named(std::string_view name);
std::optional<Cause> cause_named(std::string_view name);
/// Adds a value to those of a parameter if it is new; adds the parameter if that is.
void add_value(std::vector<Parameter>& parameters, const Setting& setting);

}  // namespace tune::recording

#pragma once

namespace tune {

/// What a person is told whose signal ended the run.
inline constexpr const char* kInterrupted = "tune: interrupted; the same command continues from here";

/// From now on SIGINT, SIGTERM and SIGHUP end this process at once, with the words and the exit code of a run that they
/// interrupt, but for those that are ignored. While a Processes catches them, they become its
/// events instead.
void end_on_signals();

}  // namespace tune

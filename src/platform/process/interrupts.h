#pragma once

namespace tune::platform {

/// What the person is told who interrupted a run.
inline constexpr const char* kInterrupted = "tune: interrupted; the same command continues from here";

/// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, end this process at once, with the message and the
/// exit code of an interrupted run. While a Processes object catches them, they become its events instead.
void end_on_signals();

}  // namespace tune::platform

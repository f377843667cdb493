#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "compiler/compiler_output.h"
#include "model/trial.h"
#include "platform/process/process.h"
#include "program/program_command.h"

namespace tune::worker {

/// A command of program mode: the build, or the program itself.
struct Task {
  Stage stage = Stage::build;
  std::string what;   ///< "the build": how messages call it
  Words prefix = {};  ///< of the command's argv
  Words command;
  bool is_shell = false;
  Placeholders placeholders;
  std::map<std::string, std::string> environment;    ///< added to ours
  bool discards_output = false;                      ///< what it prints on stdout goes nowhere
  std::function<bool(std::string_view)> keeps = {};  ///< see platform::Command
  bool awaits_all = false;                           ///< see platform::Command
  std::int64_t memory_bytes = 0;                     ///< that it may take, by --memory; 0: not limited so
  BuildFolders folders = {};                         ///< that its errors need not name
  bool is_timed = false;                             ///< it is the program itself, not what prepares it
  bool is_artifact = false;  ///< what is run was built: that it cannot be started is its own fault
};

/// Runs it to its end, in our process group so that it dies with us; a program, unless TUNE_PROGRAMS_MAY_SIGNAL=1,
/// cannot signal what is outside. What it prints goes on into our stderr, bounded. Throws SpecFailure in its stage if
/// it crashes or exits with another code than 0; the message has the signal, or the code and the line of its output
/// that explains most, and likewise if its command line is too long. Throws Error(environment) if it cannot be started,
/// unless it was built.
platform::Finished run_or_refuse(const Task& task);

}  // namespace tune::worker

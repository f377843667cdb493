#pragma once
#include <string>

#include "commands/init/source.h"

namespace tune::commands {

/// A tuning file that was written for a kernel.
struct Draft {
  std::string yaml;
  int parameters = 0;
  int guesses = 0;  ///< lines with "guess:", which a person should check
};

/// What is asked of a draft.
struct DraftRequest {
  std::string name;  ///< of the tuning file's problem
  std::string file;  ///< the source, as the tuning file names it
  bool for_gpu = false;
};

/// Writes a tuning file for the kernel; what the source does not say is guessed and marked. Throws Error(bad_input)
/// that names the line if a tuning file cannot call the kernel.
Draft draft_tuning_file(const KernelSource& source, const Kernel& kernel, const DraftRequest& request);

}  // namespace tune::commands

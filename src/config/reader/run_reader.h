#pragma once
#include <span>
#include <string>
#include <vector>

#include "config/reader/load.h"
#include "config/yaml/fields.h"
#include "model/plan.h"

namespace tune::config {

/// What of a tuning file its `run:` may name, and must.
struct RunContext {
  bool has_file = true;  ///< `file:` is what runs; else `run` names an installed command
  bool has_build = false;
  std::span<const Space::Mapping> mappings;
  std::vector<std::pair<const char*, std::string>> around = {};  ///< options, and the words that they put around `run`
};

/// Reads how a program is run: `run` (at the top or in `build`), `shell`, `whole`, `prepare` and `cleanup`. Reports
/// placeholders that stand for nothing or for two things, and parameters that do not reach the program.
void read_run_section(const Fields& top, const RunContext& context, ProgramRules& rules, Diagnostics& diagnostics);

/// Puts what the command line says before and after the command of a program. Reports what needs a shell, words behind
/// a shell's text that would not reach the program, and such options for a kernel.
void read_surroundings(const LoadOptions& options, Plan& plan, Diagnostics& diagnostics);

}  // namespace tune::config

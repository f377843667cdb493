#pragma once
#include "cli/options.h"

// The options of a run in groups, as CLI11 takes them: what they set, what they accept, and their line of the help.

namespace CLI {
class App;
}

namespace tune {

/// Each adds the options of one group. `options` must outlive the parsing.
void add_what_to_tune(CLI::App& app, Options& options);
void add_programs(CLI::App& app, Options& options);
void add_how(CLI::App& app, Options& options);
void add_what_comes_out(CLI::App& app, Options& options);

}  // namespace tune

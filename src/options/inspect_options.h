#pragma once
#include "options/groups.h"

// The commands that look at what runs have left.
namespace tune {

/// Each adds a command; the options must outlive the parsing.
void add_show(CLI::App& app, ShowOptions& show);
void add_cache(CLI::App& app, CacheOptions& cache);

}  // namespace tune

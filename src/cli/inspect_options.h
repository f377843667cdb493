#pragma once
#include "cli/options.h"

// The commands that look at what runs and other programs have left.

namespace CLI {
class App;
}

namespace tune {

/// Each adds a command; the options must outlive the parsing.
void add_convert(CLI::App& app, ConvertOptions& convert);
void add_diff(CLI::App& app, DiffOptions& diff, int& exit_undecided);
void add_list_shapes(CLI::App& app, ListShapesOptions& shapes);
void add_report(CLI::App& app, ReportOptions& report);
/// Throws Error(bad_input) if nothing says where the page is to go.
void require_a_page(const ReportOptions& report);
void add_show(CLI::App& app, ShowOptions& show);
void add_cache(CLI::App& app, CacheOptions& cache);

}  // namespace tune

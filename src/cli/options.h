#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/database_options.h"
#include "cli/kokkos_options.h"
#include "cli/values.h"
#include "model/device.h"
#include "model/trial.h"
#include "platform/net/page_server.h"
#include "search/strategies.h"

namespace tune {

/// `tune convert`.
struct ConvertOptions {
  std::filesystem::path input, output;
  std::optional<std::string> to;  ///< journal, kernel-tuner, t4 or csv; unset: by the output's name
};

/// `tune diff`.
struct DiffOptions {
  std::filesystem::path before, now;
  std::optional<double> threshold;  ///< 0.03: changes of up to 3 % are no regressions
  std::optional<std::filesystem::path> markdown, junit, json;
  std::optional<std::size_t> top;  ///< specs of each shape in the text; 0: all
  bool any_device = false;         ///< the two may be of different devices
};

/// `tune shapes`.
struct ListShapesOptions {
  std::vector<std::filesystem::path> logs;
  std::optional<std::filesystem::path> output;  ///< unset: standard output
  std::vector<std::string> filters;             ///< NAME=VALUE
};

/// `tune report`.
struct ReportOptions {
  std::vector<std::filesystem::path> runs;      ///< recorded ones
  std::vector<std::filesystem::path> yamls;     ///< of their kernel
  std::optional<std::filesystem::path> output;  ///< set unless the page is live
  std::optional<platform::PageAddress> live;
};

/// The options of `tune audit`, in addition to those of the tunings that it repeats.
struct AuditOptions {
  std::vector<std::filesystem::path> recordings;  ///< --simulate; empty: real tunings
  int runs = 10;
  std::optional<double> noise;                  ///< 0.01: 1 %; unset: what the recording's intervals tell
  bool exhaustive = false;                      ///< the truth is a run that times every spec in full
  bool keep_journals = false;                   ///< --continue
  std::optional<double> max_flips, max_regret;  ///< limits to what is found, as shares
};

/// `tune show`.
struct ShowOptions {
  std::filesystem::path run;           ///< a recorded run, or the PREFIX of its files
  std::optional<std::int64_t> number;  ///< which run of a journal; the first one is 1; unset: the last
  std::optional<std::size_t> top;      ///< as Options has it
  std::optional<std::string> sort;     ///< a column
  bool descending = false;
  std::vector<std::string> columns;
  bool failed = false, effects = false, chart = false, changes = false;
};

/// `tune cache`.
struct CacheOptions {
  std::string what;  ///< info, clear, verify
  std::optional<std::filesystem::path> store;
};

/// The command line, understood. docs/options.md says what each means.
struct Options {
  std::vector<std::filesystem::path> yaml;
  std::vector<std::string> tuned_command;  ///< the words behind `--`, instead of a tuning file
  bool shell = false;
  bool whole = false;
  std::optional<std::int64_t> warmup;
  std::optional<std::string> prepare, cleanup;
  bool tune = false;
  bool dry_run = false;
  std::optional<std::filesystem::path> output;  ///< without an ending that names one of its files
  std::optional<std::string> best_ending;       ///< .yaml or .yml, if --output names the best YAML file itself
  std::optional<std::filesystem::path> tuning_results;
  bool kbench_files = false;
  std::optional<std::filesystem::path> kt_cache, t4;
  std::optional<ConvertOptions> convert;         ///< nothing else counts then
  std::optional<DiffOptions> diff;               ///< likewise
  std::optional<ShowOptions> show;               ///< likewise
  std::optional<KokkosOptions> kokkos;           ///< likewise
  std::optional<AgentOptions> agent;             ///< likewise
  std::optional<CacheOptions> cache;             ///< likewise
  std::optional<ReportOptions> report;           ///< likewise
  std::optional<ListShapesOptions> list_shapes;  ///< likewise
  std::optional<MergeOptions> merge;             ///< likewise, as are the next three
  std::optional<LookupOptions> lookup;
  std::optional<CoverOptions> cover;
  std::optional<ExportOptions> exporting;
  std::optional<AuditOptions> audit;  ///< repeats the tuning that the rest asks for

  std::vector<std::string> params, new_params;
  std::vector<std::string> filters;
  std::optional<Part> partition;
  std::vector<std::string> problem;          ///< KEY=VALUE: entries of the problem
  std::optional<std::string> configuration;  ///< as tune_gemm spells it
  std::optional<std::int64_t> spec;
  std::optional<std::int64_t> m, n, k;
  std::optional<std::filesystem::path> shapes;
  std::optional<Backend> backend;
  std::optional<std::filesystem::path> device_file;
  std::optional<std::string> arch;

  std::vector<std::string> objectives;
  std::optional<std::filesystem::path> simulate;

  std::optional<std::int64_t> max_evals;
  std::optional<double> time_budget;  ///< seconds
  std::optional<search::StrategyChoice> strategy;
  std::optional<double> stop_within;  ///< 0.01: within 1 % of the best there can be
  bool auto_clocks = false;           ///< only clocks near the best by a model
  std::optional<PowerState> state;    ///< instead of the file's
  TimeRule time;                      ///< what stands for the launches of a spec in the sweep
  int jobs = 0;                       ///< 0: one per core
  double timeout_build = 120;
  double timeout_run = 60;
  int finalists = 5;
  bool finals = true;                             ///< --no-finals: false
  std::optional<double> finals_budget;            ///< seconds
  std::optional<double> accuracy;                 ///< 0.01: being slower than the best by up to 1 % is no loss
  std::optional<double> noise;                    ///< 0.02: a winner less sure than by 2 % is an error
  int exit_undecided = 5;                         ///< the exit code of what stays undecided
  std::optional<std::filesystem::path> baseline;  ///< an earlier result to compare with
  std::optional<double> threshold;                ///< 0.03: being slower than it by up to 3 % is no regression
  std::uint64_t seed = 0;
  bool compare = false;
  bool compare_alone = false;          ///< --compare_wo_tuning
  std::optional<std::string> devices;  ///< all, indices, or a model
  bool per_device_model = false;
  ClusterOptions cluster;
  bool share_processes = false;        ///< --isolation auto
  bool strict = false;                 ///< --check strict
  std::optional<std::int64_t> memory;  ///< bytes
  bool turns = true;                   ///< --no-turns: false
  bool keep_going = false;
  bool retry_failed = false;
  bool fresh = false;  ///< measures again what the journal knows
  std::optional<std::filesystem::path> keep;
  std::optional<std::filesystem::path> store, base_store;
  std::optional<platform::PageAddress> live;      ///< where the run's page is served while it goes on
  std::optional<std::int64_t> store_limit;        ///< bytes
  std::optional<std::filesystem::path> artifact;  ///< folder for a copy of what was built for the best

  std::optional<std::size_t> top;  ///< 0: all; unset: 20
  enum class Color { automatic, always, never };
  Color color = Color::automatic;
  bool quiet = false;
  bool verbose = false;
  bool build_only = false;
  bool probe = false;

  std::vector<std::string> command;  ///< as given, program name first

  /// Whether the command line says which problems are tuned for.
  bool names_sizes() const { return shapes || m || n || k || configuration; }
  /// Whether several tunings follow one another, with one journal.
  bool makes_several() const { return shapes || per_device_model; }
};

/// Parses the command line. Prints help or version and returns nullopt if asked to; throws Error(bad_input).
std::optional<Options> parse_options(int argc, const char* const* argv);
/// Sets what follows from the options that are given.
void add_consequences(Options& options);
/// Throws Error(bad_input) for options that exclude each other, that need another one, or whose files clash.
void refuse_conflicts(const Options& options);

}  // namespace tune

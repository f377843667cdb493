#include "options/options.h"

#include <algorithm>

#include "base/streams.h"
#include "model/values/error.h"
#include "options/groups.h"
#include "options/inspect_options.h"
#include "options/spellings.h"
#include "options/texts.h"
#include "options/undashed_command.h"

namespace tune {
namespace {

constexpr const char* kVersion = "tune " TUNE_VERSION;
constexpr const char* kShare = "share from 0 to below 1, such as 1% or 0.01";
void add_convert(CLI::App& app, ConvertOptions& convert) {
  CLI::App* command = app.add_subcommand("convert", "Write a recorded run in another format: tune convert IN OUT");
  command->add_option("IN", convert.input, "Journal, Kernel Tuner cache, T4 results or CSV; may be .gz or .bz2")
      ->required()
      ->type_name("FILE");
  command->add_option("OUT", convert.output, "By its name: .jsonl .json .t4.json .csv")->required()->type_name("FILE");
  command->add_option("--to", convert.to, "The format, instead of by the name")
      ->check(CLI::IsMember({"journal", "kernel-tuner", "t4", "csv"}).description(""))
      ->type_name("journal|kernel-tuner|t4|csv");
}

void add_diff(CLI::App& app, DiffOptions& diff) {
  CLI::App* command = app.add_subcommand("diff", "Compare two results: what became slower, beyond noise and a limit");
  const char* what = "Best YAML, database, journal, CSV, Kernel Tuner cache or T4 results; may be .gz or .bz2";
  command->add_option("OLD", diff.before, what)->required()->type_name("FILE");
  command->add_option("NEW", diff.now, what)->required()->type_name("FILE");
  add_share(*command, "--threshold", diff.threshold, kShare,
            "Exit with 3 if something is slower beyond noise and by more than this (default: 3%)");
  command->add_option("--markdown", diff.markdown, "Write a summary for a page of a CI service")->type_name("FILE");
  command->add_option("--junit", diff.junit, "Write JUnit XML, a test case per spec")->type_name("FILE");
  command->add_option("--json", diff.json, "Write all that was compared")->type_name("FILE");
  add_top(*command, diff.top, "Specs of each shape in the table, or all (default: 20 on a terminal, else all)");
  command->add_flag("--any-device", diff.any_device, "Compare although the results are of different devices");
}

void add_list_shapes(CLI::App& app, ListShapesOptions& shapes) {
  CLI::App* command = app.add_subcommand("shapes", "List what a program multiplies, from logs of its GEMM library");
  command
      ->add_option("LOG", shapes.logs,
                   "Logs of cuBLASLt or hipBLASLt, results of TunableOp, tables and lists, as --shapes reads them")
      ->required()
      ->type_name("FILE");
  command->add_option("--output,-o", shapes.output, "Write the list to this file, for --shapes (default: stdout)")
      ->type_name("FILE");
  command->add_option("--filter", shapes.filters, "Keep only shapes with this value, such as a=bf16; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=V");
}

void add_report(CLI::App& app, ReportOptions& report) {
  CLI::App* command =
      app.add_subcommand("report", "Show runs on a page for the browser: tune report RUN... -o report.html");
  command
      ->add_option("RUN", report.runs, "Recorded runs: journals, CSV files, Kernel Tuner caches, T4 results; databases")
      ->required()
      ->type_name("FILE");
  command->add_option("--output,-o", report.output, "The HTML file to write")->type_name("FILE");
  add_live(*command, report.live, "Serve the page, which follows the runs, to this machine unless ADDRESS is given");
  command->add_option("--yaml", report.yamls, "The tuning file of the runs, for its objective, metrics and problem")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void add_simulate_bench(CLI::App& app, SimulateBenchOptions& bench) {
  CLI::App* command = app.add_subcommand("simulate-bench", "Compare strategies on recorded runs");
  command->add_option("FILE", bench.recordings, "Recorded runs: journals, Kernel Tuner caches, T4 results")
      ->required()
      ->type_name("FILE");
  command->add_option("--strategy", bench.strategies, "As for a run; may be repeated (default: all but exhaustive)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_option("--budgets", bench.budgets, "Specs tried")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(whole(1))
      ->capture_default_str()
      ->type_name("N,N");
  command->add_option("--seeds", bench.seeds, "How often each is repeated")
      ->check(whole(1))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--seed", bench.seed, "The first seed")->check(whole(0))->capture_default_str()->type_name("S");
  command->add_flag("--warm-start", bench.warm_start,
                    "Compare searches with those that begin with the winners of the problems before");
  command->add_option("--jobs", bench.jobs, "Threads (default: one per core)")->check(whole(1))->type_name("N");
}

// Takes the options of a run, less those that choose something else to do than to tune.
void add_audit(CLI::App& app, Options& tuning, AuditOptions& audit) {
  CLI::App* command = app.add_subcommand("audit", "Repeat a tuning and say how far its answers can be trusted");
  add_what_to_tune(*command, tuning);
  add_programs(*command, tuning);
  add_how(*command, tuning);
  add_what_comes_out(*command, tuning);
  for (const char* name : {"--spec",
                           "--dry-run",
                           "--build-only",
                           "--probe",
                           "--simulate",
                           "--compare",
                           "--arch",
                           "--kt-cache",
                           "--t4",
                           "--top",
                           "--keep",
                           "--fresh",
                           "--artifact",
                           "--tuning_results_file",
                           "--kbench-files",
                           "--partition",
                           "--compare_wo_tuning",
                           "--config_str",
                           "--baseline",
                           "--threshold",
                           "--live"})
    command->remove_option(command->get_option(name));
  command->get_option("--tune")->description("Changes nothing: every audited run is one with --tune");
  command->get_option("--output")->description("Write PREFIX.csv, a row per run, and PREFIX-runN.* as each run does");
  const char* group = "Audit";
  command->add_option("--runs", audit.runs, "How often each shape is tuned, each time with another seed")
      ->check(whole(1))
      ->capture_default_str()
      ->group(group)
      ->type_name("N");
  command->add_option("--simulate", audit.recordings, "Tune on this recorded run; may be repeated")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("FILE");
  add_share(*command, "--with-noise", audit.noise, kShare,
            "Noise of every simulated time (default: what the recording's confidence intervals tell)")
      ->group(group);
  command->add_flag("--exhaustive", audit.exhaustive, "Know the best from one more run that times every spec in full")
      ->group(group);
  command->add_flag("--continue", audit.keep_journals, "Go on with an audit that ended early")->group(group);
  add_share(*command, "--max-flips", audit.max_flips, kShare,
            "Exit with 3 if the winner changed in a larger share of the runs")
      ->group(group);
  add_share(*command, "--max-regret", audit.max_regret, kShare, "Exit with 3 if the mean regret is larger")
      ->group(group);
}

void complete(SimulateBenchOptions& bench) {
  for (const std::string& text : bench.strategies) search::parse_strategy(text);
  if (!bench.strategies.empty()) return;
  for (const search::StrategyChoice& choice : search::strategies())
    if (choice.name != "exhaustive") bench.strategies.push_back(choice.name);
}

/// Refuses an empty path, and an option in the place of one, in every option that takes a path, for the command and its
/// subcommand.
void refuse_unlikely_paths(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_path = type == "FILE" || type == "DIR" || type == "PREFIX";
    for (const std::string& path : option->results())
      if (is_path && (path.empty() || path.starts_with("--")))
        throw Error(ExitCode::bad_input, option->get_name() + " is given " +
                                             (path.empty() ? "an empty path" : "the option " + path) +
                                             "; give the name of a " + (type == "DIR" ? "folder" : "file"));
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_unlikely_paths(*command);
}

/// `, did you mean '--tune'?` for the first word that is no option.
std::string nearest_option(const CLI::App& app) {
  const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string> unknown = app.remaining(true);
  return unknown.empty() ? "" : did_you_mean(unknown.front().substr(0, unknown.front().find('=')), known);
}

/// The command that is tuned.
std::vector<std::string> words_behind_dashes(int argc, const char* const* argv) {
  const std::ptrdiff_t dashes = std::find(argv, argv + argc, std::string_view("--")) - argv;
  if (dashes == argc) return {};
  std::vector<std::string> words(argv + dashes + 1, argv + argc);
  if (words.empty() || words.front().empty())
    throw Error(ExitCode::bad_input,
                "there is no command behind --; write tune --tune --param LEVEL:[1,9] -- xz "
                "-{LEVEL} -k -c FILE");
  return words;
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  options.command.assign(argv, argv + argc);
  const std::vector<std::string> ours = in_our_spelling(argc, argv);
  CLI::App app{
      "Finds the fastest parameters of a CUDA, HIP or CPU kernel or of a program: builds, checks and times every "
      "combination of their values, and ranks them.",
      "tune"};
  add_what_to_tune(app, options);
  add_programs(app, options);
  add_how(app, options);
  add_several_machines(app, options.cluster);
  add_what_comes_out(app, options);
  ConvertOptions convert;
  add_convert(app, convert);
  DiffOptions diff;
  add_diff(app, diff);
  ListShapesOptions shapes;
  add_list_shapes(app, shapes);
  ReportOptions report;
  add_report(app, report);
  SimulateBenchOptions bench;
  add_simulate_bench(app, bench);
  DatabaseOptions database;
  add_database_commands(app, database);
  ShowOptions show;
  add_show(app, show);
  CacheOptions cache;
  add_cache(app, cache);
  KokkosOptions kokkos;
  add_kokkos(app, kokkos);
  AgentOptions agent;
  add_agent(app, agent);
  Options tuning;
  AuditOptions audit;
  add_audit(app, tuning, audit);
  add_text_options(app, kVersion);
  try {
    std::vector<const char*> words;
    for (const std::string& word : ours) words.push_back(word.c_str());
    words.erase(std::ranges::find(words, std::string_view("--")), words.end());
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& asked) {
    base::print(help_or_version(app, asked));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    refuse_command_without_dashes(app, ours);
    const std::string advice = nearest_option(app);
    const std::string called = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ";
    throw Error(ExitCode::bad_input, error.what() + (advice.empty() ? "; see tune " + called + "--help" : advice));
  }
  refuse_unlikely_paths(app);
  refuse_command_without_dashes(app, ours);
  const std::vector<std::string> tuned_command = words_behind_dashes(argc, argv);
  if (!tuned_command.empty() && !app.get_subcommands().empty() && !app.got_subcommand("audit") &&
      !app.got_subcommand("kokkos"))
    throw Error(ExitCode::bad_input, "this command runs nothing; drop what stands behind --");
  if (take_kokkos_command(app, kokkos, tuned_command, options)) return options;
  options.tuned_command = tuning.tuned_command = tuned_command;
  if (const auto text = text_of_command(app, kVersion)) {
    base::print(*text);
    return std::nullopt;
  }
  if (app.got_subcommand("audit")) {
    tuning.command = options.command;
    tuning.tune = true;
    add_consequences(tuning);
    tuning.audit = std::move(audit);
    if (!tuning.audit->recordings.empty()) tuning.simulate = tuning.audit->recordings.front();
    refuse_conflicts(tuning);
    return tuning;
  }
  if (app.got_subcommand("convert")) options.convert = convert;
  if (app.got_subcommand("diff")) options.diff = diff;
  if (app.got_subcommand("report")) {
    if (!report.output && !report.live)
      throw Error(ExitCode::bad_input,
                  "tune report needs -o FILE for the page, such as -o report.html, or --live PORT");
    options.report = report;
  }
  if (app.got_subcommand("simulate-bench")) {
    complete(bench);
    options.simulate_bench = std::move(bench);
  }
  if (app.got_subcommand("shapes")) options.list_shapes = std::move(shapes);
  if (app.got_subcommand("show")) options.show = show;
  if (app.got_subcommand("cache")) options.cache = cache;
  if (app.got_subcommand("agent")) options.agent = agent;
  if (take_database_command(app, database, options)) return options;
  if (options.convert || options.diff || options.report || options.simulate_bench || options.list_shapes ||
      options.show || options.cache || options.agent)
    return options;
  add_consequences(options);
  refuse_conflicts(options);
  return options;
}

}  // namespace tune

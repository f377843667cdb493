#include "cli/repeat_options.h"

#include "cli/groups.h"
#include "cli/kinds.h"

namespace tune {

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
                           "--live",
                           "--per-device-model"})
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
  add_share(*command, "--with-noise", audit.noise, kShareText,
            "Noise of every simulated time (default: what the recording's confidence intervals tell)")
      ->group(group);
  command->add_flag("--exhaustive", audit.exhaustive, "Know the best from one more run that times every spec in full")
      ->group(group);
  command->add_flag("--continue", audit.keep_journals, "Go on with an audit that ended early")->group(group);
  add_share(*command, "--max-flips", audit.max_flips, kShareText,
            "Exit with 3 if the winner changed in a larger share of the runs")
      ->group(group);
  add_share(*command, "--max-regret", audit.max_regret, kShareText, "Exit with 3 if the mean regret is larger")
      ->group(group);
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

void complete(SimulateBenchOptions& bench) {
  for (const std::string& text : bench.strategies) search::parse_strategy(text);
  if (!bench.strategies.empty()) return;
  for (const search::StrategyChoice& choice : search::strategies())
    if (choice.name != "exhaustive") bench.strategies.push_back(choice.name);
}

}  // namespace tune

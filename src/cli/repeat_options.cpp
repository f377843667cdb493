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

}  // namespace tune

#include "cli/groups.h"

#include "cli/kinds.h"
#include "cli/values.h"
#include "config/reader/load.h"

namespace tune {
namespace {

void add_processes(CLI::App& app, Options& options, const char* group) {
  app.add_option_function<std::string>(
         "--isolation", [&options](const std::string& text) { options.share_processes = text != "spec"; },
         "A measure process per spec, or on GPUs one for many in the sweep, with spot checks (default: spec)")
      ->check(CLI::IsMember({"spec", "auto", "device"}).description(""))
      ->group(group)
      ->type_name("spec|auto");
  app.add_option_function<std::string>(
         "--check", [&options](const std::string& text) { options.strict = text == "strict"; },
         "How buffers of CPU kernels are guarded: strict makes a read beyond an end fault (default: normal)")
      ->check(CLI::IsMember({"normal", "strict"}).description(""))
      ->group(group)
      ->type_name("normal|strict");
  app.add_option_function<std::string>(
         "--memory", [&options](const std::string& text) { options.memory = bytes_of("--memory", text); },
         "Memory that the process of a CPU kernel or a program may take: 500M, 12G (default: of CPU kernels four "
         "fifths of what is left; of programs no limit)")
      ->group(group)
      ->type_name("SIZE");
  app.add_flag_callback(
         "--no-turns", [&options] { options.turns = false; },
         "Time at once, although another run times on the same CPU or GPU")
      ->group(group);
}

void add_search(CLI::App& app, Options& options, const char* group) {
  std::string names;
  for (const search::StrategyChoice& choice : search::strategies()) names += (names.empty() ? "" : " ") + choice.name;
  app.add_option_function<std::string>(
         "--strategy", [&options](const std::string& text) { options.strategy = search::parse_strategy(text); },
         "How specs are chosen, with options as in genetic:population=30: " + names +
             " (default: auto if there is a time budget or there are more than --max-evals specs, else exhaustive)")
      ->group(group)
      ->type_name("NAME");
  add_duration(app, "--time-budget", options.time_budget,
               "End the run after about this time, finals included: 90s, 10m, 1.5h")
      ->group(group);
  add_share(app, "--stop-within", options.stop_within, "share below 1, such as 1% or 0.01",
            "Stop at a spec this near to the best there can be, where that is known")
      ->group(group);
  app.add_option_function<std::string>(
         "--clocks", [&options](const std::string&) { options.auto_clocks = true; },
         "Measure one spec at some of the values of $device.sm_clock, and search only those near the best by a model")
      ->check(CLI::IsMember({"auto"}).description(""))
      ->group(group)
      ->type_name("auto");
}

void add_finals(CLI::App& app, Options& options, const char* group) {
  app.add_option_function<std::string>(
         "--state", [&options](const std::string& text) { options.state = parse_power_state(text); },
         "Time GPU kernels at the boost clock, or under a steady load (default: burst)")
      ->check(CLI::IsMember({"burst", "sustained"}).description(""))
      ->group(group)
      ->type_name("burst|sustained");
  app.add_option_function<std::string>(
         "--statistic",
         [&options](const std::string& text) {
           using enum Statistic;
           options.time.statistic = text == "mean" ? mean : text == "min" ? min : median;
         },
         "Which of a spec's launch times is its time in the sweep (default: median; the finals' are medians)")
      ->check(CLI::IsMember({"median", "mean", "min"}).description(""))
      ->group(group)
      ->type_name("median|mean|min");
  app.add_option_function<std::string>(
         "--outliers", [&options](const std::string& text) { options.time.without_outliers = text == "drop"; },
         "Whether launches that took far longer than the others count in it (default: keep)")
      ->check(CLI::IsMember({"keep", "drop"}).description(""))
      ->group(group)
      ->type_name("keep|drop");
  app.add_option("--finalists", options.finalists,
                 "Smallest number of finalists; all specs within 15 % of the best are finalists, up to 24")
      ->check(whole(1))
      ->capture_default_str()
      ->group(group)
      ->type_name("N");
  app.add_flag_callback(
         "--no-finals", [&options] { options.finals = false; }, "Take the best of the sweep; time no baseline")
      ->group(group);
  add_duration(app, "--finals-budget", options.finals_budget,
               "End the finals after this time (default: the sweep's, or that of 16 rounds up to 30s if it is more)")
      ->group(group);
  add_share(app, "--accuracy", options.accuracy, "share below 1, such as 1% or 0.01",
            "End the finals once the winner is slower than the best by at most this (default: 1%)")
      ->group(group);
  add_share(app, "--noise", options.noise, "share below 1, such as 2% or 0.02",
            "Exit with 5 if the time of the best is known less well than this")
      ->group(group);
  add_exit_undecided(app, options.exit_undecided)->group(group);
  app.add_option(
         "--baseline", options.baseline,
         "Compare with this earlier result (best YAML, journal, CSV); exit with 3 if it was faster, 5 if that is open")
      ->group(group)
      ->type_name("FILE");
  add_share(app, "--threshold", options.threshold, "share below 1, such as 3% or 0.03",
            "By how much slower than --baseline is no regression (default: 3%)")
      ->group(group);
}

}  // namespace

void add_what_to_tune(CLI::App& app, Options& options) {
  const char* group = "What to tune";
  app.add_option("--yaml,yaml", options.yaml, "Tuning file; several are joined (same name and file)")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--param", options.params, "Replace the values of a parameter: NAME:VALUE or NAME:[a,b]")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("NAME:V");
  app.add_option("--add-param", options.new_params, "Add a parameter that the file does not have")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("NAME:V");
  app.add_option("--filter", options.filters, "Only specs with this value; values of one name are alternatives")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("NAME=V");
  app.add_option("--spec", options.spec, "Only the spec with this mesh_idx")
      ->check(whole())
      ->group(group)
      ->type_name("N");
  app.add_option_function<std::string>(
         "--partition",
         [&options](const std::string& text) {
           options.partition = parse_part(text);
           if (!options.partition)
             throw CLI::ValidationError("--partition", "'" + text + "' is no part; write 0:4 for the first of four");
         },
         "Only part I of N, from 0:N on: of the sizes with --shapes, else of the specs")
      ->group(group)
      ->type_name("I:N");
  app.add_option("-m", options.m, "Problem size M instead of the file's")
      ->check(whole(1))
      ->group(group)
      ->type_name("M");
  app.add_option("-n", options.n, "Problem size N")->check(whole(1))->group(group)->type_name("N");
  app.add_option("-k", options.k, "Problem size K")->check(whole(1))->group(group)->type_name("K");
  app.add_option("--problem", options.problem, "Set an entry of the problem: a=bf16, batch=8, rowMajorB=N, init=normal")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("KEY=V");
  app.add_option("--config_str", options.configuration,
                 "Only the configuration of tune_gemm's text: M16_N8_K128_BM64_BN64_BK64_GM1_SK2_nW2")
      ->group(group)
      ->type_name("TEXT");
  app.add_option("--shapes,--gemm_size_file", options.shapes, "List of sizes; each is tuned on its own")
      ->group(group)
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--backend",
         [&options](const std::string& text) {
           options.backend = config::parse_backend(text);
           if (!options.backend)
             throw CLI::ValidationError("--backend", "'" + text + "' is none of auto, cuda, hip, cpu, program");
         },
         "What runs the kernel, instead of the file's")
      ->group(group)
      ->type_name("auto|cuda|hip|cpu|program");
}

void add_programs(CLI::App& app, Options& options) {
  const char* group = "Programs and commands";
  app.add_flag("--shell", options.shell, "Run the command by /bin/sh (default: no shell)")->group(group);
  app.add_flag("--whole", options.whole, "Time the whole command, whatever it prints")->group(group);
  app.add_option("--warmup", options.warmup, "Runs or launches that are not timed, before those that are")
      ->check(whole(0))
      ->group(group)
      ->type_name("N");
  app.add_option("--prepare", options.prepare, "Run this by /bin/sh before each run, those of the warm-up included")
      ->group(group)
      ->type_name("CMD");
  app.add_option("--cleanup", options.cleanup, "Run this by /bin/sh after the last run of each spec")
      ->group(group)
      ->type_name("CMD");
}

void add_how(CLI::App& app, Options& options) {
  const char* group = "How";
  app.add_flag("--tune", options.tune, "Find the best spec: cut slow ones short, hold finals, write PREFIX.yaml")
      ->group(group);
  app.add_flag("--dry-run,--dryrun", options.dry_run, "List the specs and what prunes the others; run nothing")
      ->group(group);
  app.add_flag("--build-only,--build", options.build_only,
               "Build every spec, run none; list registers, spills, shared memory and occupancy")
      ->group(group);
  app.add_flag("--probe", options.probe, "Print the device of --backend (default: cpu) as a device file")->group(group);
  app.add_option("--simulate", options.simulate, "Answer specs from this recorded run; starts nothing")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--objective", options.objectives,
                 "Instead of the file's: time, energy, GFLOP/s, GFLOPS/W or a metric")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--max-evals", options.max_evals, "Try at most this many specs")
      ->check(whole(1))
      ->group(group)
      ->type_name("N");
  add_search(app, options, group);
  app.add_option("--jobs,--num-cpu", options.jobs, "Builds at a time (default: one per core)")
      ->check(whole(1))
      ->group(group)
      ->type_name("N");
  app.add_option("--devices", options.devices,
                 "GPUs to measure on: indices such as 0,1, a model, or all (default: the first)")
      ->group(group)
      ->type_name("LIST");
  app.add_flag("--per-device-model", options.per_device_model,
               "Tune for each model of the devices by itself, one after the other, on all devices of it")
      ->group(group);
  add_processes(app, options, group);
  app.add_option("--timeout-build", options.timeout_build, "Seconds a build may take")
      ->check(positive())
      ->capture_default_str()
      ->group(group)
      ->type_name("S");
  app.add_option("--timeout-run,--timeout-secs", options.timeout_run,
                 "Seconds each of start, load and measuring may take")
      ->check(positive())
      ->capture_default_str()
      ->group(group)
      ->type_name("S");
  add_finals(app, options, group);
  app.add_option("--seed", options.seed, "Seed of inputs, search and the finals' order")
      ->check(whole(0))
      ->capture_default_str()
      ->group(group)
      ->type_name("S");
  app.add_flag("--compare", options.compare, "Exit with 3 if a spec's result is wrong")->group(group);
  app.add_flag("--compare_wo_tuning", options.compare_alone,
               "The same without --tune, for the specs that a file of --tuning_results_file names")
      ->group(group);
  app.add_flag("--keep-going", options.keep_going, "Do not stop when all specs fail alike")->group(group);
  app.add_flag("--retry-failed", options.retry_failed, "Try again what failed in an earlier run")->group(group);
  app.add_flag("--fresh", options.fresh, "Measure again what the journal knows; its records are kept")->group(group);
  app.add_option("--device-file", options.device_file,
                 "Take the device from this file, or by a name such as h100, in dry runs, --build-only and --simulate")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--arch", options.arch,
                 "Build or list for this architecture, such as sm_90a; with --build-only, --dry-run")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--store", options.store, "Build store instead of your own; who can write there is trusted")
      ->group(group)
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--store-limit",
         [&options](const std::string& text) { options.store_limit = bytes_of("--store-limit", text); },
         "Most that the build store may hold; what was not used for longest is removed (default: 10G, and no limit for "
         "--store)")
      ->group(group)
      ->type_name("SIZE");
  app.add_option("--base-store", options.base_store, "A store to take from what your own does not have; never written")
      ->group(group)
      ->type_name("DIR");
}

void add_what_comes_out(CLI::App& app, Options& options) {
  const char* group = "What comes out";
  app.add_option("--output,-o", options.output,
                 "Write PREFIX.csv, PREFIX.jsonl and, with --tune, PREFIX.yaml; PREFIX may end in one of these")
      ->group(group)
      ->type_name("PREFIX");
  app.add_option("--tuning_results_file", options.tuning_results,
                 "Tune, and write the best configuration of each size to one file, which --shapes reads")
      ->group(group)
      ->type_name("FILE");
  app.add_flag("--kbench-files", options.kbench_files, "Also write PREFIX.txt and PREFIX.failures.json, as kbench does")
      ->group(group);
  app.add_option("--kt-cache", options.kt_cache, "Append every spec to this Kernel Tuner cache file, for ktdashboard")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--t4", options.t4, "Write the results in the T4 format")->group(group)->type_name("FILE");
  add_top(app, options.top, "Specs in the table of --tune, or all (default: 20)")->group(group);
  app.add_option_function<std::string>(
         "--color",
         [&options](const std::string& text) {
           using Color = Options::Color;
           options.color = text == "auto" ? Color::automatic : text == "always" ? Color::always : Color::never;
         },
         "Whether the output is coloured (default: auto, which is on a terminal, unless NO_COLOR is set)")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->group(group)
      ->type_name("auto|always|never");
  app.add_option("--keep", options.keep,
                 "Save artifact, source, log and output of failed specs here; with --build-only, of all")
      ->group(group)
      ->type_name("DIR");
  app.add_option("--artifact", options.artifact, "Copy what was built for the best spec (.cubin, .hsaco, .so) here")
      ->group(group)
      ->type_name("DIR");
  add_live(app, options.live,
           "Serve a page that shows the run while it goes on, to this machine unless ADDRESS is given")
      ->group(group);
  app.add_flag("--quiet,-q", options.quiet, "No progress; results only")->group(group);
  app.add_flag("--verbose,-v", options.verbose, "Log what every process does, on stderr")->group(group);
}

}  // namespace tune

#include <array>

#include "commands/common_options.h"
#include "commands/tune/options.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

void bind_tuning(cli::Command& command, TuneOptions& options, const char* help) {
  command.group("How");
  command.flag("--tune", options.tune, help).common().for_agents();
}

/// What is done instead of measuring.
void bind_mode(cli::Command& command, TuneOptions& options) {
  const auto ask_for = [&options](Mode mode) { return [&options, mode] { options.ask_for(mode); }; };
  command.flag("--dry-run,--dryrun", ask_for(Mode::dry_run), "List the specs and what prunes the others; run nothing")
      .common()
      .repeats_spec();
  command
      .flag("--build-only,--build", ask_for(Mode::build_only),
            "Build every spec, run none; list registers, spills, shared memory and occupancy")
      .repeats_spec();
  command.flag("--probe", ask_for(Mode::probe), "Print the device of --backend (default: the file's) as a device file");
  const auto simulate = [&options](const std::string& recording) {
    options.simulate = recording;
    options.ask_for(Mode::simulate);
  };
  command.value("--simulate", simulate, "FILE", "Answer specs from this recorded run; starts nothing")
      .files(kRecordings)
      .common()
      .repeats_spec();
  command.check([&options] {
    const cli::Given& given = options.given;
    const bool lists = given("--dry-run"), builds = given("--build-only");
    if (lists && builds) cli::refuse("--dry-run and --build-only exclude each other");
    if (options.tune && builds) cli::refuse("--tune and --build-only exclude each other");
    if (options.mode == Mode::simulate && (lists || builds || given("--probe")))
      cli::refuse("--simulate excludes --dry-run, --build-only and --probe");
  });
}

void bind_search(cli::Command& command, TuneOptions& options) {
  tuning::SearchSettings& search = options.job.search;
  command
      .several("--objective", options.job.load.objectives, "NAME",
               "Instead of the file's: time, energy, GFLOP/s, GFLOPS/W or a metric")
      .repeats_spec();
  command.whole("--max-evals", search.max_evals, 1, "N", "Try at most this many specs").common();
  std::string names;
  for (const search::StrategyChoice& choice : search::strategies()) names += (names.empty() ? "" : " ") + choice.name;
  const std::string help =
      "How specs are chosen, with options as in genetic:population=30: " + names +
      " (default: auto if there is a time budget or there are more than --max-evals specs, else exhaustive)";
  bind_strategy(command, search.strategy, help.c_str());
  command
      .duration("--time-budget", search.time_budget,
                "End the run after about this time, finals included: 90, 90s, 10m, 1.5h")
      .common();
  command.share("--stop-within", search.stop_within,
                "Stop at a spec this near to the best there can be, where that is known",
                "share below 1, such as 1% or 0.01");
  command.choice(
      "--clocks", [&search](const std::string&) { search.auto_clocks = true; }, "auto",
      "Measure one spec at some of the values of $device.sm_clock, and search only those near the best by a model");
  command.check([&options] {
    if (options.given("--clocks") && options.job.search.spec)
      cli::refuse("--spec runs one spec, at its clock; it excludes --clocks");
    if (options.job.search.strategy && (options.given("--dry-run") || options.given("--build-only")))
      cli::refuse("--strategy needs measured times; --dry-run and --build-only take specs in mesh order");
  });
}

void bind_devices(cli::Command& command, TuneOptions& options) {
  command.whole("--jobs,--num-cpu", options.measure.jobs, 1, "N", "Builds at a time (default: one per core)")
      .for_agents();
  command
      .text("--devices", options.job.devices, "LIST",
            "GPUs to measure on: indices such as 0,1, a model, or all (default: the first)")
      .repeats_spec();
  command.check([&options] {
    if (options.job.devices && options.mode == Mode::simulate)
      cli::refuse("--simulate measures on no device; it excludes --devices");
  });
}

void bind_models(cli::Command& command, TuneOptions& options) {
  command.flag("--per-device-model", options.per_device_model,
               "Tune for each model of the devices by itself, one after the other, on all devices of it");
  command.then([&options] {  // each model names its own
    if (options.per_device_model && options.job.devices == "all") options.job.devices.reset();
  });
  command.check([&options] {
    if (!options.per_device_model) return;
    if (options.mode != Mode::measure)
      cli::refuse(
          "--per-device-model tunes for each model of the devices; --simulate, --dry-run, --build-only and --probe "
          "use one");
    if (options.job.devices)
      cli::refuse("--per-device-model uses all devices; it excludes --devices " + *options.job.devices);
    if (options.outputs.tuning_results)
      cli::refuse(
          "--tuning_results_file has one best for each size, and --per-device-model finds several; use --output "
          "PREFIX");
  });
}

void bind_processes(cli::Command& command, TuneOptions& options) {
  exec::WorkerSettings& measure = options.measure;
  command
      .choice("--isolation", [&options](const std::string& text) { options.measure.share_processes = text != "spec"; },
              "spec|auto",
              "A measure process per spec, or on GPUs one for many in the sweep, with spot checks (default: spec)",
              {"device"})
      .for_agents();
  command
      .choice(
          "--check", [&options](const std::string& text) { options.strict = text == "strict"; }, "normal|strict",
          "How buffers of CPU kernels are guarded: strict makes a read beyond an end fault (default: normal)")
      .repeats_spec();
  command
      .bytes("--memory", options.memory,
             "Memory that the process of a CPU kernel or a program may take: 500M, 12G (default: of CPU kernels four "
             "fifths of what is left; of programs no limit)")
      .repeats_spec();
  command
      .flag(
          "--no-turns", [&measure] { measure.turns = false; },
          "Time at once, although another run times on the same CPU or GPU")
      .for_agents();
  command.seconds("--timeout-build", measure.deadlines.build, "Seconds a build may take")
      .shows_default()
      .repeats_spec();
  command
      .seconds("--timeout-run,--timeout-secs", measure.deadlines.run,
               "Seconds each of start, load and measuring may take")
      .shows_default()
      .repeats_spec();
}

void bind_time(cli::Command& command, TuneOptions& options) {
  command
      .choice(
          "--state", [&options](const std::string& text) { options.job.load.state = parse_power_state(text); },
          "burst|sustained", "Time GPU kernels at the boost clock, or under a steady load (default: burst)")
      .repeats_spec();
  const auto statistic = [&options](const std::string& text) {
    using enum Statistic;
    options.sweep.time.statistic = text == "mean" ? mean : text == "min" ? min : median;
  };
  command.choice("--statistic", statistic, "median|mean|min",
                 "Which of a spec's launch times is its time in the sweep (default: median; the finals' are medians)");
  command.choice(
      "--outliers", [&options](const std::string& text) { options.sweep.time.without_outliers = text == "drop"; },
      "keep|drop", "Whether launches that took far longer than the others count in it (default: keep)");
}

void bind_finals(cli::Command& command, TuneOptions& options) {
  FinalsSettings& finals = options.finals;
  const char* share = "share below 1, such as 1% or 0.01";
  command
      .whole("--finalists", finals.finalists, 1, "N",
             "Smallest number of finalists; all specs within 15 % of the best are finalists, up to 16")
      .shows_default();
  command.flag(
      "--no-finals", [&finals] { finals.hold = false; }, "Take the best of the sweep; time no baseline");
  command.duration("--finals-budget", finals.budget,
                   "End the finals after this time (default: what --time-budget leaves; else the sweep's, or that of "
                   "39 rounds up to "
                   "30s if it is more)");
  command.share("--accuracy", options.demands.accuracy,
                "End the finals once the winner is slower than the best by at most this (default: 1%)", share);
  command.share("--noise", options.demands.noise, "Exit with 5 if the time of the best is known less well than this",
                "share below 1, such as 2% or 0.02");
  bind_exit_undecided(command, options.exit_undecided);
  command.check([&options] {
    if (options.demands.accuracy && !options.tune)
      cli::refuse("--accuracy says how much slower than the best the winner may be; it goes with --tune");
    if (options.demands.noise && !options.tune)
      cli::refuse("--noise says how sure the best is to be; it goes with --tune");
    if (options.finals.budget && !options.finals.hold)
      cli::refuse("--no-finals leaves nothing for --finals-budget; drop one of them");
  });
}

/// A name with `=` is that of a file if there is one, or if it begins with a folder's.
void tell_file_from_spec(TuneOptions& options) {
  std::vector<std::string>& given = options.baseline_spec;
  if (given.size() != 1) return;
  const std::size_t equals = given[0].find('=');
  std::error_code ignored;
  if (equals != std::string::npos && given[0].find('/') > equals && !std::filesystem::exists(given[0], ignored)) return;
  options.job.baseline = given[0];
  given.clear();
}

/// Where a file is named that is not there, a spec may be meant.
void require_file(const std::filesystem::path& baseline) {
  constexpr std::array<std::string_view, 1> kBest = {".yaml"};
  constexpr std::array<std::string_view, 2> kRecords = {".jsonl", ".csv"};
  std::error_code error;
  if (std::filesystem::exists(baseline, error) || error) return;
  std::filesystem::path nearest = platform::nearest_file(baseline, kBest);
  if (nearest.empty()) nearest = platform::nearest_file(baseline, kRecords);
  cli::refuse(
      "--baseline " + baseline.string() + ": there is no such file" +
      (nearest.empty() ? "; give" : ", did you mean '" + nearest.string() + "'? Give") +
      " the best YAML, journal or CSV file of an earlier run, or PARAMETER=VALUE to compare with a spec of this "
      "run");
}

void bind_baseline(cli::Command& command, TuneOptions& options) {
  command
      .list("--baseline", options.baseline_spec, "FILE|NAME=V",
            "Compare the best with this earlier result (best YAML, journal, CSV) or spec; exit with 3 if slower, 5 if "
            "open")
      .files(kResultFiles);
  command.then([&options] { tell_file_from_spec(options); });
  command.share("--threshold", options.threshold, "By how much slower than --baseline is no regression (default: 3%)",
                "share below 1, such as 3% or 0.03");
  command.check([&options] {
    if (options.compares() && (!options.tune || options.mode == Mode::simulate))
      cli::refuse(
          "--baseline is compared with the best of a run with --tune, which is measured; tune diff compares recorded "
          "runs");
    if (!options.baseline_spec.empty() && !options.finals.hold)
      cli::refuse("--no-finals times no baseline; drop one of them");
    if (options.compares() && options.makes_several())
      cli::refuse(std::string("--baseline is of one problem, and ") + options.what_makes_several() +
                  " makes several; compare the runs with tune diff");
    if (options.threshold && !options.compares())
      cli::refuse("--threshold says how much slower than --baseline is no regression; give --baseline too");
    if (options.job.baseline) require_file(*options.job.baseline);
  });
}

void bind_seed(cli::Command& command, TuneOptions& options) {
  command.whole("--seed", options.job.search.seed, 0, "S", "Seed of inputs, search and the finals' order")
      .shows_default()
      .repeats_spec();
}

void bind_compare(cli::Command& command, TuneOptions& options) {
  command.flag("--compare", options.demands.right_results, "Exit with 3 if a spec's result is wrong");
  command.flag("--compare_wo_tuning", options.compare_alone,
               "The same without --tune, for the specs that a file of --tuning_results_file names");
  command.check([&options] {
    if (options.compare_alone && options.tune)
      cli::refuse("--compare_wo_tuning checks specs without tuning; it excludes --tune and --tuning_results_file");
  });
}

void bind_failures(cli::Command& command, TuneOptions& options) {
  command.flag("--keep-going", options.sweep.keep_going, "Do not stop when all specs fail alike");
  command.flag("--retry-failed", options.job.retry_failed, "Try again what failed in an earlier run");
}

void bind_fresh(cli::Command& command, TuneOptions& options) {
  command.flag("--fresh", options.demands.fresh, "Measure again what the journal knows; its records are kept");
  command.check([&options] {
    if (options.demands.fresh && options.mode != Mode::measure)
      cli::refuse("--fresh measures again; --simulate, --dry-run, --build-only and --probe measure nothing");
  });
}

void bind_device_file(cli::Command& command, TuneOptions& options) {
  command
      .path("--device-file", options.machine.device_file, "FILE",
            "Take the device from this file, or by a name such as h100, in dry runs, --build-only and --simulate")
      .files(kYamlFiles)
      .repeats_spec();
  command.check([&options] {
    if (options.machine.device_file && (options.mode == Mode::measure || options.mode == Mode::probe))
      cli::refuse(
          "--device-file stands in for a device in --dry-run, --build-only and --simulate; nothing can be measured on "
          "it");
  });
}

void bind_arch(cli::Command& command, TuneOptions& options) {
  command
      .text("--arch", options.machine.arch, "NAME",
            "Build or list for this architecture, such as sm_90a; with --build-only, --dry-run")
      .repeats_spec();
  command.check([&options] {
    if (options.machine.arch && !options.times_nothing())
      cli::refuse("--arch goes with --build-only and --dry-run; measuring is done on the device's own");
  });
}

void bind_built(cli::Command& command, TuneOptions& options) {
  command
      .flag(
          "--run-only", [&options] { options.measure.builds = false; },
          "Build nothing: run the specs that --build-only or an earlier run has built")
      .for_agents();
  command.flag("--clear-cache", options.clear_cache, "Empty the build store first, so that everything is built again");
  command.check([&options] {
    const std::string builds_nothing = "--run-only builds nothing; it excludes ";
    if (!options.measure.builds && options.given("--build-only")) cli::refuse(builds_nothing + "--build-only");
    if (!options.measure.builds && options.clear_cache)
      cli::refuse(builds_nothing + "--clear-cache, which leaves nothing to run");
    if (options.clear_cache && options.mode != Mode::measure && options.mode != Mode::build_only)
      cli::refuse(
          "--clear-cache empties the build store for a run that builds; --dry-run, --simulate and --probe build "
          "nothing");
  });
}

void bind_store(cli::Command& command, StoreOptions& store) {
  command.path("--store", store.store, "DIR", "Build store instead of your own; who can write there is trusted")
      .for_agents();
  command.bytes("--store-limit", store.limit,
                "Most that the build store may hold; what was not used for longest is removed (default: 10G, and no "
                "limit for --store)");
  command
      .path("--base-store", store.base_store, "DIR", "A store to take from what your own does not have; never written")
      .for_agents();
}

void check_cluster(const TuneOptions& options) {
  const exec::LauncherSettings& launcher = options.cluster.launcher;
  if (!options.on_agents()) {
    if (!launcher.hosts.empty()) cli::refuse("--hosts are for --launcher ssh; give that too");
    if (launcher.agents > 0) cli::refuse("--agents are what a --launcher command starts; give that too");
    if (options.given("--listen"))
      cli::refuse("--listen is for the agents of --launcher; give that too (a page is served by --live)");
    return;
  }
  if (options.mode != Mode::measure)
    cli::refuse("--launcher starts agents that measure; --dry-run, --build-only, --probe and --simulate need none");
  if (std::ranges::count(launcher.hosts, "") > 0) cli::refuse("--hosts has an empty name; write --hosts node1,node2");
  auto hosts = launcher.hosts;
  std::ranges::sort(hosts);
  if (const auto twice = std::ranges::adjacent_find(hosts); twice != hosts.end())
    cli::refuse("--hosts names " + *twice + " twice; one agent has all devices of its machine");
}

void bind_cluster(cli::Command& command, TuneOptions& options) {
  exec::ClusterSettings& cluster = options.cluster;
  command.group("Several machines");
  command.text("--launcher", cluster.launcher.launcher, "slurm|ssh|COMMAND",
               "Run on several machines: slurm, ssh, or a command with {agent} that starts agents");
  command.comma_list("--hosts", cluster.launcher.hosts, "A,B", "Machines for ssh, or for a command with {host}");
  command.whole("--agents", cluster.launcher.agents, 1, "N",
                "Agents that the --launcher command starts (default: one per host)");
  const auto listen = [&cluster](const std::string& text) {
    const platform::Address address = cli::read_host(text);
    cluster.host = address.host;
    cluster.port = address.port;
  };
  command.value("--listen", listen, "HOST[:PORT]",
                "Address of this machine that agents connect to (default: the one of its name)");
  command.seconds("--agents-within", cluster.start_seconds, "Seconds in which all agents must connect").shows_default();
  command
      .seconds("--agent-timeout", cluster.silence_seconds,
               "Seconds of silence after which an agent is lost, and its specs go to others")
      .shows_default();
  command.check([&options] { check_cluster(options); });
}

}  // namespace

void bind_how(cli::Command& command, TuneOptions& options) {
  bind_tuning(command, options, "Find the best spec: cut slow ones short, hold finals, write PREFIX.yaml");
  bind_mode(command, options);
  bind_search(command, options);
  bind_devices(command, options);
  bind_models(command, options);
  bind_processes(command, options);
  bind_time(command, options);
  bind_finals(command, options);
  bind_baseline(command, options);
  bind_seed(command, options);
  bind_compare(command, options);
  bind_failures(command, options);
  bind_fresh(command, options);
  bind_device_file(command, options);
  bind_arch(command, options);
  bind_built(command, options);
  bind_store(command, options.store);
  bind_cluster(command, options);
}

void bind_how_audited(cli::Command& command, TuneOptions& options) {
  bind_tuning(command, options, "Changes nothing: every audited run is one with --tune");
  bind_search(command, options);
  bind_devices(command, options);
  bind_processes(command, options);
  bind_time(command, options);
  bind_finals(command, options);
  bind_seed(command, options);
  bind_failures(command, options);
  bind_device_file(command, options);
  bind_store(command, options.store);
}

}  // namespace tune::commands

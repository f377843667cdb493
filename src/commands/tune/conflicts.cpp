#include <algorithm>

#include "commands/tune/options.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

[[noreturn]] void fail(const std::string& text) { throw Error(ExitCode::bad_input, text); }

void check_files(const TuneOptions& options) {
  for (auto yaml = options.yaml.begin(); yaml != options.yaml.end(); ++yaml) {
    const auto same = [&](const std::filesystem::path& other) {
      std::error_code ignored;
      return other == *yaml || std::filesystem::equivalent(other, *yaml, ignored);
    };
    if (std::any_of(options.yaml.begin(), yaml, same)) fail("--yaml " + yaml->string() + " is given twice");
  }
  std::error_code ignored;
  const std::filesystem::path& keep = options.measure.keep;
  if (!keep.empty() && std::filesystem::exists(keep, ignored) && !std::filesystem::is_directory(keep, ignored))
    fail("--keep " + keep.string() + " is a file; give the name of a folder");
  if (!options.outputs.prefix) return;
  const std::string last = options.outputs.prefix->filename().string();
  if (last.empty() || last == "." || last == "..")
    fail("--output '" + options.outputs.prefix->string() +
         "' is a folder; add what the files' names begin with, such as " + (*options.outputs.prefix / "best").string());
}

void check_cluster(const TuneOptions& options) {
  const exec::LauncherRules& launcher = options.cluster.launcher;
  if (!options.on_agents()) {
    if (!launcher.hosts.empty()) fail("--hosts are for --launcher ssh; give that too");
    if (launcher.agents > 0) fail("--agents are what a --launcher command starts; give that too");
    if (options.given("--listen"))
      fail("--listen is for the agents of --launcher; give that too (a page is served by --live)");
    return;
  }
  if (options.dry_run || options.build_only || options.probe || options.simulate)
    fail("--launcher starts agents that measure; --dry-run, --build-only, --probe and --simulate need none");
  if (std::ranges::count(launcher.hosts, "") > 0) fail("--hosts has an empty name; write --hosts node1,node2");
  auto hosts = launcher.hosts;
  std::ranges::sort(hosts);
  if (const auto twice = std::ranges::adjacent_find(hosts); twice != hosts.end())
    fail("--hosts names " + *twice + " twice; one agent has all devices of its machine");
}

void check_tuned_command(const TuneOptions& options) {
  const bool any = !options.load.command.empty();
  if (any && !options.yaml.empty())
    fail("what stands behind -- is the command to tune, and " + options.yaml.front().string() +
         " is a tuning file; give one of them (in a tuning file, run: is the command)");
  if (any && options.simulate) fail("--simulate runs nothing; it excludes a command behind --");
  if (any && options.build_only) fail("--build-only builds, and a command behind -- is not built; use --dry-run");
  if (any && options.probe) fail("--probe describes a device; it excludes a command behind --");
  if (any && options.load.backend && options.load.backend != Backend::automatic &&
      options.load.backend != Backend::program)
    fail("a command behind -- is a program; drop --backend " + std::string(to_text(*options.load.backend)));
}

void check_one_configuration(const TuneOptions& options) {
  if (options.given("--clocks") && options.search.spec)
    fail("--spec runs one spec, at its clock; it excludes --clocks");
  if (options.partition && options.search.spec) fail("--spec runs one spec; it excludes --partition");
  if (options.partition && options.simulate)
    fail("--simulate and --partition exclude each other: a recording is answered as a whole");
  if (options.load.configuration && options.shapes)
    fail("--config_str is one configuration of one problem; it excludes --shapes");
}

void check_results(const TuneOptions& options) {
  if (options.compare_alone && options.tune)
    fail("--compare_wo_tuning checks specs without tuning; it excludes --tune and --tuning_results_file");
  if (options.outputs.tuning_results && options.simulate)
    fail("--tuning_results_file is for real tunings; --simulate writes --output PREFIX");
  if (options.outputs.kbench && !options.outputs.prefix)
    fail("--kbench-files are named after --output; give --output PREFIX too");
  if (options.output_is_best && !options.tune && !options.dry_run && !options.build_only)
    fail("--output " + options.outputs.prefix->string() + options.outputs.best_ending +
         " is the file of the best spec, which is written with --tune; without it give --output " +
         options.outputs.prefix->string() + ".csv");
}

}  // namespace

void refuse_conflicts(const TuneOptions& options) {
  check_files(options);
  check_tuned_command(options);
  const bool none_named = options.yaml.empty() && options.load.command.empty() && !options.probe && !options.simulate;
  if (none_named && !options.takes_shipped_file())
    fail("there is nothing to tune: --yaml FILE is missing, or -- and a command; see tune --help");
  if (none_named && options.on_agents())
    fail("this folder has no gemm.yaml; with --launcher, give the tuning file with --yaml FILE");
  if (none_named && options.load.backend == Backend::program)
    fail("this folder has no gemm.yaml; give the tuning file of the program with --yaml FILE");
  check_one_configuration(options);
  check_results(options);
  check_cluster(options);
  if (options.dry_run && options.build_only) fail("--dry-run and --build-only exclude each other");
  if (options.tune && options.build_only) fail("--tune and --build-only exclude each other");
  const std::string builds = "--run-only builds nothing; it excludes ";
  if (options.run_only && options.build_only) fail(builds + "--build-only");
  if (options.run_only && options.clear_cache) fail(builds + "--clear-cache, which leaves nothing to run");
  if (options.clear_cache && (options.dry_run || options.simulate || options.probe))
    fail(
        "--clear-cache empties the build store for a run that builds; --dry-run, --simulate and --probe build nothing");
  if (options.search.strategy && (options.dry_run || options.build_only))
    fail("--strategy needs measured times; --dry-run and --build-only take specs in mesh order");
  if (options.device_file && !options.dry_run && !options.build_only && !options.simulate)
    fail(
        "--device-file stands in for a device in --dry-run, --build-only and --simulate; nothing can be measured on "
        "it");
  if (options.simulate && (options.dry_run || options.build_only || options.probe))
    fail("--simulate excludes --dry-run, --build-only and --probe");
  const std::string several = options.shapes ? "--shapes" : "--per-device-model";
  const bool measures = !options.simulate && !options.dry_run && !options.build_only && !options.probe;
  if (options.fresh && !measures)
    fail("--fresh measures again; --simulate, --dry-run, --build-only and --probe measure nothing");
  if (options.artifact && !measures)
    fail(
        "--artifact copies what was built for the best spec; --simulate, --dry-run, --build-only and --probe find "
        "none");
  if (options.live && !measures)
    fail("--live shows a run that measures; for what is recorded there is tune report RUN --live PORT");
  if (options.per_device_model && !measures)
    fail(
        "--per-device-model tunes for each model of the devices; --simulate, --dry-run, --build-only and --probe "
        "use one");
  if (options.per_device_model && options.devices && *options.devices != "all")
    fail("--per-device-model uses all devices; it excludes --devices " + *options.devices);
  if (options.per_device_model && options.outputs.tuning_results)
    fail("--tuning_results_file has one best for each size, and --per-device-model finds several; use --output PREFIX");
  if (options.live && options.makes_several())
    fail("--live shows one run, and " + several + " makes several; use tune report RUN... --live PORT beside it");
  if (options.simulate && options.devices) fail("--simulate measures on no device; it excludes --devices");
  if (options.simulate && options.shapes)
    fail("--simulate and --shapes exclude each other: a recording is of one problem");
  if (options.shapes && (options.load.m || options.load.n || options.load.k))
    fail("--shapes gives the sizes of each problem; it excludes -m, -n and -k");
  if (options.probe && options.load.backend == Backend::automatic)
    fail("--probe describes the device of one backend; give it with --backend cuda, hip, cpu or program");
  if (options.baseline && (!options.tune || options.simulate))
    fail(
        "--baseline is compared with the best of a run with --tune, which is measured; tune diff compares recorded "
        "runs");
  if (options.baseline && options.makes_several())
    fail("--baseline is one result, and " + several + " makes several; compare the runs with tune diff");
  if (options.threshold && !options.baseline)
    fail("--threshold says how much slower than --baseline is no regression; give --baseline FILE too");
  if (options.demands.accuracy && !options.tune)
    fail("--accuracy says how much slower than the best the winner may be; it goes with --tune");
  if (options.demands.noise && !options.tune) fail("--noise says how sure the best is to be; it goes with --tune");
  if (options.finals.budget && !options.finals.hold)
    fail("--no-finals leaves nothing for --finals-budget; drop one of them");
  if (options.arch && !options.build_only && !options.dry_run)
    fail("--arch goes with --build-only and --dry-run; measuring is done on the device's own");
}

}  // namespace tune::commands

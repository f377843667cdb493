#include "commands/tune/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "commands/common_options.h"
#include "platform/files/file.h"

namespace tune::commands {
namespace {

constexpr const char* kDefaultFile = "gemm.yaml";

// What to tune.

void check_files(const TuneOptions& options) {
  for (auto yaml = options.yaml.begin(); yaml != options.yaml.end(); ++yaml) {
    const auto same = [&](const std::filesystem::path& other) {
      std::error_code ignored;
      return other == *yaml || std::filesystem::equivalent(other, *yaml, ignored);
    };
    if (std::any_of(options.yaml.begin(), yaml, same)) cli::refuse("--yaml " + yaml->string() + " is given twice");
  }
  if (!options.names_nothing()) return;
  if (!options.takes_shipped_file())
    cli::refuse("there is nothing to tune: --yaml FILE is missing, or -- and a command; see tune --help");
  if (options.on_agents())
    cli::refuse("this folder has no gemm.yaml; with --launcher, give the tuning file with --yaml FILE");
  if (options.job.load.backend && is_program(*options.job.load.backend))
    cli::refuse("this folder has no gemm.yaml; give the tuning file of the program with --yaml FILE");
}

void bind_files(cli::Command& command, TuneOptions& options) {
  config::LoadSettings& load = options.job.load;
  command.group("What to tune");
  command.several("--yaml,yaml", options.yaml, "FILE", "Tuning file; several are joined (same name and file)")
      .files(kYamlFiles)
      .common()
      .repeats_spec();
  command.list("--param", load.params, "NAME:V", "Replace the values of a parameter: NAME:VALUE or NAME:[a,b]")
      .common()
      .repeats_spec();
  command.list("--add-param", load.new_params, "NAME:V", "Add a parameter that the file does not have").repeats_spec();
  command.list("--filter", options.filters, "NAME=V", "Only specs with this value; values of one name are alternatives")
      .common();
  command.check([&options] { check_files(options); });
}

void bind_spec(cli::Command& command, TuneOptions& options) {
  command
      .whole("--spec", options.job.search.spec, std::numeric_limits<std::int64_t>::min(), "N",
             "Only the spec with this mesh_idx")
      .common();
  const auto partition = [&options](const std::string& text) {
    options.partition = cli::parse_part(text);
    if (!options.partition) throw cli::Refused{"'" + text + "' is no part; write 0:4 for the first of four"};
  };
  command.value("--partition", partition, "I:N",
                "Only part I of N, from 0:N on: of the sizes with --shapes, else of the specs");
  command.check([&options] {
    if (options.job.search.spec && (options.partition || !options.filters.empty()))
      cli::refuse(std::string("--spec runs one spec; it excludes ") + (options.partition ? "--partition" : "--filter"));
    if (options.partition && options.mode == Mode::simulate)
      cli::refuse("--simulate and --partition exclude each other: a recording is answered as a whole");
  });
}

void bind_problem(cli::Command& command, TuneOptions& options) {
  config::LoadSettings& load = options.job.load;
  command.whole("-m", load.m, 1, "M", "Problem size M instead of the file's").repeats_spec();
  command.whole("-n", load.n, 1, "N", "Problem size N").repeats_spec();
  command.whole("-k", load.k, 1, "K", "Problem size K").repeats_spec();
  command
      .list("--problem", load.problem, "KEY=V",
            "Set an entry of the problem: a=bf16, batch=8, rowMajorB=N, init=normal")
      .repeats_spec();
}

void bind_configuration(cli::Command& command, TuneOptions& options) {
  command
      .text("--config_str", options.job.load.configuration, "TEXT",
            "Only the configuration of tune_gemm's text: M16_N8_K128_BM64_BN64_BK64_GM1_SK2_nW2")
      .repeats_spec();
  command.check([&options] {
    if (options.job.load.configuration && options.shapes)
      cli::refuse("--config_str is one configuration of one problem; it excludes --shapes");
  });
}

void bind_shapes(cli::Command& command, TuneOptions& options) {
  command.path("--shapes,--gemm_size_file", options.shapes, "FILE", "List of sizes; each is tuned on its own")
      .files(kShapeFiles)
      .repeats_spec();
  const auto backend = [&options](const std::string& text) {
    options.job.load.backend = parse_backend(text);
    if (!options.job.load.backend)
      throw cli::Refused{fmt::format("'{}' is none of {}", text, fmt::join(backend_names(), ", "))};
  };
  const std::string names = fmt::format("{}", fmt::join(backend_names(), "|"));
  command.value("--backend", backend, names.c_str(), "What runs the kernel, instead of the file's").repeats_spec();
  command.check([&options] {
    if (options.shapes && options.mode == Mode::simulate)
      cli::refuse("--simulate and --shapes exclude each other: a recording is of one problem");
    if (options.shapes && (options.job.load.m || options.job.load.n || options.job.load.k))
      cli::refuse("--shapes gives the sizes of each problem; it excludes -m, -n and -k");
    if (options.mode == Mode::probe && options.job.load.backend == Backend::automatic)
      cli::refuse("--probe describes the device of one backend; give it with --backend NAME");
  });
}

void check_tuned_command(const TuneOptions& options) {
  if (options.job.load.command.empty()) return;
  if (!options.yaml.empty())
    cli::refuse("what stands behind -- is the command to tune, and " + options.yaml.front().string() +
                " is a tuning file; give one of them (in a tuning file, run: is the command)");
  if (options.mode == Mode::simulate) cli::refuse("--simulate runs nothing; it excludes a command behind --");
  if (options.mode == Mode::build_only)
    cli::refuse("--build-only builds, and a command behind -- is not built; use --dry-run");
  if (options.mode == Mode::probe) cli::refuse("--probe describes a device; it excludes a command behind --");
  const std::optional<Backend>& backend = options.job.load.backend;
  if (backend && *backend != Backend::automatic && !is_program(*backend))
    cli::refuse("a command behind -- is a program; drop --backend " + std::string(to_text(*backend)));
}

void bind_programs(cli::Command& command, TuneOptions& options) {
  config::LoadSettings& load = options.job.load;
  command.group("Programs and commands");
  command.flag("--shell", load.shell, "Run the command by /bin/sh (default: no shell)").repeats_spec();
  command.flag("--whole", load.whole, "Time the whole command, whatever it prints").repeats_spec();
  command.whole("--warmup", load.warmup, 0, "N", "Runs or launches that are not timed, before those that are")
      .repeats_spec();
  command.text("--prepare", load.prepare, "CMD", "Run this by /bin/sh before each run, those of the warm-up included")
      .repeats_spec();
  command.text("--cleanup", load.cleanup, "CMD", "Run this by /bin/sh after the last run of each spec").repeats_spec();
  command.text("--exec-prefix", load.exec_prefix, "WORDS", "Words before the command of a program: 'numactl -N0'")
      .repeats_spec();
  command.text("--exec-suffix", load.exec_suffix, "WORDS", "Words after it").repeats_spec();
  command.whole("--mpirun-np", load.processes, 1, "N", "Run the program by mpirun -np N").repeats_spec();
  const auto profiler = [&load](const std::string& text) { load.profiler = text; };
  command
      .choice("--profile", profiler, "ncu|ncu-single|rocm|rocprof-compute",
              "Run the program under a profiler, which writes PREFIX-profile-N for each spec N")
      .repeats_spec();
  command.behind_dashes(load.command);
  command.check([&options] { check_tuned_command(options); });
}

// What comes out.

/// best.csv means the files best.*.
void split_output(TuneOptions& options) {
  if (!options.job.prefix) return;
  const std::string ending = options.job.prefix->extension();
  options.output_is_best = platform::is_yaml(*options.job.prefix);
  if (options.output_is_best) options.outputs.best_ending = ending;
  if (options.output_is_best || ending == ".csv" || ending == ".jsonl") options.job.prefix->replace_extension();
}

void check_output(const TuneOptions& options) {
  if (!options.job.prefix) return;
  const std::filesystem::path& prefix = *options.job.prefix;
  const std::string last = prefix.filename().string();
  if (last.empty() || last == "." || last == "..")
    cli::refuse("--output '" + prefix.string() + "' is a folder; add what the files' names begin with, such as " +
                (prefix / "best").string());
  if (options.output_is_best && !options.tune && !options.times_nothing())
    cli::refuse("--output " + prefix.string() + options.outputs.best_ending +
                " is the file of the best spec, which is written with --tune; without it give --output " +
                prefix.string() + ".csv");
}

void bind_output(cli::Command& command, TuneOptions& options, const char* help) {
  command.group("What comes out");
  command.path("--output,-o", options.job.prefix, "PREFIX", help).common();
  command.then([&options] { split_output(options); });
  command.check([&options] { check_output(options); });
}

void bind_other_formats(cli::Command& command, TuneOptions& options) {
  results::OutputSettings& outputs = options.outputs;
  command
      .path("--tuning_results_file", outputs.tuning_results, "FILE",
            "Tune, and write the best configuration of each size to one file, which --shapes reads")
      .files(kYamlFiles);
  command.flag("--kbench-files", outputs.kbench, "Also write PREFIX.txt and PREFIX.failures.json, as kbench does");
  command
      .path("--kt-cache", outputs.kt_cache, "FILE",
            "Append every spec to this Kernel Tuner cache file, for ktdashboard")
      .files({"json"});
  command.path("--t4", outputs.t4, "FILE", "Write the results in the T4 format").files({"json"});
  command.check([&options] {
    if (options.outputs.tuning_results && options.mode == Mode::simulate)
      cli::refuse("--tuning_results_file is for real tunings; --simulate writes --output PREFIX");
    if (options.outputs.kbench && !options.job.prefix)
      cli::refuse("--kbench-files are named after --output; give --output PREFIX too");
  });
}

void bind_color(cli::Command& command, TerminalOptions& terminal) {
  const auto color = [&terminal](const std::string& text) {
    using enum TerminalOptions::Color;
    terminal.color = text == "auto" ? automatic : text == "always" ? always : never;
  };
  command.choice("--color", color, "auto|always|never",
                 "Whether the output is coloured (default: auto, which is on a terminal, unless NO_COLOR is set)");
}

void check_copies(const TuneOptions& options) {
  std::error_code ignored;
  const std::filesystem::path& keep = options.measure.keep;
  if (!keep.empty() && std::filesystem::exists(keep, ignored) && !std::filesystem::is_directory(keep, ignored))
    cli::refuse("--keep " + keep.string() + " is a file; give the name of a folder");
  if (options.artifact && options.mode != Mode::measure)
    cli::refuse(
        "--artifact copies what was built for the best spec; --simulate, --dry-run, --build-only and --probe find "
        "none");
  if (options.live && options.mode != Mode::measure)
    cli::refuse("--live shows a run that measures; for what is recorded there is tune report RUN --live PORT");
  if (options.live && options.makes_several())
    cli::refuse(std::string("--live shows one run, and ") + options.what_makes_several() +
                " makes several; use tune report RUN... --live PORT beside it");
}

void bind_copies(cli::Command& command, TuneOptions& options) {
  command
      .path("--keep", options.measure.keep, "DIR",
            "Save artifact, source, log and output of failed specs here; with --build-only, of all")
      .common()
      .for_agents();
  command.path("--artifact", options.artifact, "DIR",
               "Copy what was built for the best spec (.cubin, .hsaco, .so) here");
  bind_live(command, options.live,
            "Serve a page that shows the run while it goes on, to this machine unless ADDRESS is given");
  command.check([&options] { check_copies(options); });
}

void bind_progress(cli::Command& command, TuneOptions& options) {
  command.flag("--quiet,-q", options.job.quiet, "No progress, and no lists of --dry-run and --build-only").common();
  command.flag("--verbose,-v", options.terminal.verbose, "Log what every process does, on stderr");
}

}  // namespace

cli::Given Job::given(cli::Given of_command) const {
  devices ? of_command.set("--devices", {*devices}) : of_command.unset("--devices");
  if (of_command("--seed") || search.seed != tuning::SearchSettings().seed)
    of_command.set("--seed", {std::to_string(search.seed)});
  return of_command;
}

std::string Job::label() const {
  const std::string sizes = shape() ? config::to_text(*shape()) : "";
  return sizes + (sizes.empty() || model.empty() ? "" : " on ") + model;
}

std::string Job::file_suffix() const {
  std::string suffix;
  if (shape())
    for (const Setting& setting : shape()->settings) suffix += "-" + setting.name + to_text(setting.value);
  if (!model.empty()) suffix += "-" + model;
  std::ranges::replace(suffix, ' ', '_');
  return suffix;
}

void bind_tune(cli::Command& command, TuneOptions& options) {
  bind_files(command, options);
  bind_spec(command, options);
  bind_problem(command, options);
  bind_configuration(command, options);
  bind_shapes(command, options);
  bind_programs(command, options);
  bind_how(command, options);
  bind_output(command, options,
              "Write PREFIX.csv, PREFIX.jsonl and, with --tune, PREFIX.yaml; PREFIX may end in one of these");
  bind_other_formats(command, options);
  bind_top(
      command, options.terminal.top,
      "Specs in the table of --tune, or all (default: 20); with --dry-run the ones that are predicted to be fastest")
      .common();
  bind_color(command, options.terminal);
  bind_copies(command, options);
  bind_progress(command, options);
  command.typed(options.typed);
  command.given(options.given);
  command.then([&options] { add_consequences(options); });
}

void bind_audited(cli::Command& command, TuneOptions& options) {
  bind_files(command, options);
  bind_problem(command, options);
  bind_shapes(command, options);
  bind_programs(command, options);
  bind_how_audited(command, options);
  bind_output(command, options, "Write PREFIX.csv, a row per run, and PREFIX-runN.* as each run does");
  bind_color(command, options.terminal);
  bind_progress(command, options);
  command.typed(options.typed);
  command.given(options.given);
  command.then([&options] { add_consequences(options); });
}

void add_consequences(TuneOptions& options) {
  // The commands of tune_gemm do not say that they tune, and name no tuning file.
  const bool one_spec = options.job.search.spec || options.job.load.configuration;
  const bool of_tune_gemm = options.takes_shipped_file() && !one_spec && !options.compare_alone;
  if ((options.outputs.tuning_results || of_tune_gemm) && !options.times_nothing()) {
    options.tune = true;
    options.given.set("--tune");
  }
  if (options.compare_alone) options.demands.right_results = true;
  if (options.takes_shipped_file() && std::filesystem::exists(kDefaultFile)) {
    options.yaml = {kDefaultFile};
    options.given.set("--yaml", {kDefaultFile});
  }
  if (!options.given("--jobs")) options.measure.jobs = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace tune::commands

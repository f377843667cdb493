#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend.h"
#include "compiler/compiler_output.h"
#include "host/core_settings.h"
#include "model/statistics/stats.h"
#include "model/values/error.h"
#include "platform/store/store.h"
#include "program/program_command.h"
#include "program/program_host.h"
#include "program/program_result.h"
#include "program/program_run.h"
#include "program/whole_command.h"

namespace tune::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kResultLimit = 1 << 20;

/// A folder of its own for one run of a program, so that no result of another run can be taken for its own.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "tune-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw Error(ExitCode::environment, "cannot create " + pattern + ": " + std::strerror(errno));
    path_ = pattern;
  }

  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Words definitions(const std::vector<Define>& defines) {
  Words words;
  for (const auto& define : defines) words.push_back("-D" + define.name + "=" + define.value);
  return words;
}

// The folder of tune/bench.h: in the build tree, next to an installed tune, or below its libexec.
fs::path bench_include() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* folder : {"../include", "../../include"})
    if (fs::exists(here / folder / "tune/bench.h")) return (here / folder).lexically_normal();
  return {};
}

Words build_flags(const wire::BuildRequest& request) {
  Words words = request.flags;
  for (const auto& folder : request.include) words.push_back("-I" + folder);
  if (const fs::path ours = bench_include(); !ours.empty()) words.push_back("-I" + ours.string());
  return words;
}

// Parameters that do not reach the compiler would give one program the labels of many.
void require_used(const wire::BuildRequest& request) {
  if (!request.defines.empty() && !uses(request.command.words, "defines"))
    throw SpecFailure(Stage::build,
                      "build.command does not use {defines}, so that all specs would be one program; add it");
  if (!(request.flags.empty() && request.include.empty()) && !uses(request.command.words, "flags"))
    throw SpecFailure(Stage::build,
                      "build.command does not use {flags}, so build.flags and build.include have no effect");
}

Words build_command(const wire::BuildRequest& request) {
  if (!request.command.empty()) {
    require_used(request);
    return request.command.words;
  }
  const auto language = language_of(request.source);
  if (!language) throw SpecFailure(Stage::build, "no rule to build " + request.source + ": set build.command");
  return default_build_command(*language, request.arch, request.flags);
}

void require_executable(const fs::path& file) {
  if (::access(file.c_str(), X_OK) == 0) return;
  throw Error(ExitCode::environment, fmt::format("{} is not executable (chmod +x), and '{}' has no build rule: set "
                                                 "build.command",
                                                 file.string(), file.extension().string()));
}

// The program's result file, if it wrote one.
std::optional<std::string> text_of(const fs::path& result) {
  if (!fs::exists(result)) return std::nullopt;
  if (const std::string kind = platform::kind_of_file(result); !kind.empty())
    throw SpecFailure(Stage::measure, "the result file is " + kind + "; a program writes a regular file");
  if (fs::file_size(result) > kResultLimit) throw SpecFailure(Stage::measure, "the result file is larger than 1 MiB");
  return platform::read_file(result);
}

class ProgramBackend final : public WorkerBackend {
 public:
  Backend kind() const override { return Backend::program; }

  wire::Hello probe() override {
    wire::Hello hello;
    hello.backend = kind();
    hello.device = host_device();
    hello.device.arch = "native";
    hello.compiler = compiler_versions();
    hello.cores = core_settings();
    return hello;
  }

  wire::Built build(const wire::BuildRequest& request) override {
    const std::string name = traits_of(kind()).artifact;
    const fs::path binary = fs::path(request.output) / name;
    Task task;
    task.what = "the build";
    task.command = build_command(request);
    task.is_shell = request.command.is_shell;
    task.placeholders = {{"file", {request.source}},
                         {"defines", definitions(request.defines)},
                         {"flags", build_flags(request)},
                         {"binary", {binary.string()}},
                         {"arch", {request.arch.empty() ? "native" : request.arch}}};
    const fs::path reads = fs::path(request.output) / "reads.d";
    task.environment = {{kDependenciesVariable, reads.string()}};
    task.folders = {fs::path(request.source).parent_path(), {request.output, fs::temp_directory_path()}};
    const auto start = std::chrono::steady_clock::now();
    try {
      run_or_refuse(task);
    } catch (...) {
      fs::remove(binary);  // half of a program must not be run as one
      throw;
    }
    if (!fs::exists(binary))
      throw SpecFailure(Stage::build, "the build succeeded but did not write its program to {binary}");
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return {name, spent.count(), {}, files_read(reads, fs::current_path(), bench_include())};
  }

  void reference(const wire::ReferenceRequest&) override {
    throw SpecFailure(Stage::start, "a program checks its own result; there is no reference to make");
  }

  void load(const wire::MeasureRequest& request, bool /*beside*/) override {
    const wire::ProgramRun* run = request.program();
    if (run == nullptr) throw SpecFailure(Stage::load, "a program is neither a kernel nor the vendor's library");
    run_ = *run;
    artifact_ = request.artifact;
    rules_ = request.measure;
    auto& [words, is_shell] = run_.rules.run;
    if (words.empty()) {
      run_.rules.run = {default_run_command(run_.source, !artifact_.empty())};
      if (words.front() == "{file}") require_executable(run_.source);
    }
    if (is_shell && !run_.rules.suffix.empty())
      words.back() += " " + typed_line(run_.rules.suffix);
    else
      words.insert(words.end(), run_.rules.suffix.begin(), run_.rules.suffix.end());
    if (run_.rules.times_whole() && !run_.rules.reads_result()) time_whole();
  }

  std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) override try {
    std::optional<wire::Measured> measured;
    try {
      measured = measure_runs(go, report);
    } catch (...) {
      try {
        clean_up();
      } catch (const SpecFailure&) {
      }
      throw;
    }
    clean_up();
    return measured;
  } catch (const wire::Malformed& error) {
    const char* advice =
        run_.rules.times_whole() ? "; --whole (whole: true) times the command, whatever it prints" : "";
    throw SpecFailure(Stage::measure, std::string(error.what()) + advice);
  }

 private:
  /// A run, and the result file that it wrote, if any.
  struct Ran {
    std::optional<std::string> result;
    platform::Finished finished;
  };

  Task task_of(const CommandLine& command, std::string what) const {
    Task task;
    task.stage = Stage::measure;
    task.what = std::move(what);
    task.command = command.words;
    task.is_shell = command.is_shell;
    task.placeholders = run_.values;
    if (!run_.source.empty()) {
      task.placeholders["file"] = {run_.source};
      task.placeholders["binary"] = {artifact_.empty() ? run_.source : artifact_};
    }
    task.memory_bytes = rules_.memory_bytes;
    return task;
  }

  Ran run_program(bool discards_output) const {
    if (!run_.rules.prepare.empty()) run_or_refuse(task_of(run_.rules.prepare, "prepare"));
    const ScratchFolder folder;
    const fs::path result = folder.path() / "result";
    Task task = task_of(run_.rules.run, "the program");
    task.is_timed = true;
    task.prefix = run_.rules.prefix;
    task.placeholders["args"] = run_.args;
    task.placeholders["output"] = {result.string()};
    task.is_artifact =
        !artifact_.empty() && task.prefix.empty() && !task.is_shell && task.command.front() == "{binary}";
    task.environment = {{"TUNE_RESULT", result.string()}};
    task.discards_output = discards_output;
    task.awaits_all = run_.rules.times_whole();
    task.keeps = may_be_result;
    platform::Finished finished = run_or_refuse(task);
    return {text_of(result), std::move(finished)};
  }

  void time_whole() {
    whole_.emplace(rules_, [this] { return run_whole(); });
  }

  /// What a run prints is read if the first one told something.
  platform::ResourceUse run_whole() {
    const bool tells = said_.ok || !said_.metrics.empty();
    const Ran ran = run_program(!tells);
    if (tells) told_.push_back(result_of(ran));
    return use_of(ran);
  }

  ProgramResult result_of(const Ran& ran) const {
    const std::string& said = ran.finished.kept.empty() ? ran.finished.output : ran.finished.kept;
    ProgramResult result =
        run_.rules.times_whole() ? find_program_result(ran.result, said) : read_program_result(ran.result, said);
    if (result.ok == false) throw SpecFailure(Stage::check, "the program says that its result is wrong");
    return result;
  }

  /// What counts is the time of all its work.
  static platform::ResourceUse use_of(const Ran& ran) {
    const platform::ResourceUse& use = ran.finished.use;
    if (use.left_running.empty()) return use;
    throw SpecFailure(Stage::measure,
                      "the command ended before its work: a process that it started still ran (" + use.left_running +
                          "); have it wait for what it puts into the background, as by `wait` in a shell");
  }

  static wire::Measured reported(const ProgramResult& result, const wire::Go& go, const Report& report) {
    if (result.ok && go.checks()) report(wire::Checked{0, result.timing->median});
    return {*result.timing, result.ok.has_value(), result.metrics, {}, result.name};
  }

  /// The time of the whole command, and the medians of what its timed runs told.
  wire::Measured timed_whole(const wire::Go& go) {
    told_.clear();
    wire::Measured measured = whole_->measure(go);
    measured.name = said_.name;
    told_.erase(told_.begin(), told_.end() - std::min<std::ptrdiff_t>(measured.timing.count, std::ssize(told_)));
    if (told_.empty()) told_.push_back(said_);  // the first run ruled it out
    std::map<std::string, std::vector<double>> columns;
    for (const ProgramResult& result : told_)
      for (const auto& [name, value] : result.metrics) columns[name].push_back(value);
    for (auto& [name, values] : columns) {
      if (values.size() < told_.size())
        throw SpecFailure(Stage::measure, fmt::format("{} of its {} runs did not print {}",
                                                      told_.size() - values.size(), told_.size(), name));
      measured.metrics.emplace(name, median(std::move(values)));
    }
    measured.checked = std::ranges::all_of(told_, [](const auto& result) { return result.ok == true; });
    return measured;
  }

  /// The first run of a program that may report its time tells whether it does.
  wire::Measured measure_runs(const wire::Go& go, const Report& report) {
    if (whole_) return timed_whole(go);
    const Ran ran = run_program(false);
    said_ = result_of(ran);
    if (said_.timing) return reported(said_, go, report);
    time_whole();
    whole_->add_first(use_of(ran));
    wire::Measured measured = timed_whole(go);
    const bool in_finals = go.launches > 0;  // where it has been said already
    if (const std::string why = why_no_result(ran.finished.output); !why.empty() && !in_finals)
      measured.remarks.push_back(
          "the whole command is timed, because it reported no time: " + why +
          (said_.metrics.empty() ? "; --whole (whole: true) says that this is meant" : "; its numbers are columns"));
    return measured;
  }

  /// After a turn, because the next one may be another spec's. The failure of a run says more than that of the cleanup.
  void clean_up() const {
    if (!run_.rules.cleanup.empty()) run_or_refuse(task_of(run_.rules.cleanup, "cleanup"));
  }

  wire::ProgramRun run_;
  std::string artifact_;  ///< empty: it is not built
  MeasureRules rules_;
  std::optional<WholeCommand> whole_;  ///< the time is that of the whole command
  ProgramResult said_;                 ///< by a run that told its time, or else by the first one
  std::vector<ProgramResult> told_;    ///< by the runs of this turn, if the whole command is timed
};

}  // namespace

std::unique_ptr<WorkerBackend> make_backend() { return std::make_unique<ProgramBackend>(); }

}  // namespace tune::worker

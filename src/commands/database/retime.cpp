#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/database_update.h"
#include "commands/database/recorded_slowdowns.h"
#include "commands/database/retimed.h"
#include "commands/database/selection.h"
#include "commands/database/tuned_plan.h"
#include "commands/installation.h"
#include "commands/print_messages.h"
#include "commands/tune/rules.h"
#include "commands/tune/tune.h"
#include "config/recorded/best_yaml.h"
#include "database/database_file.h"
#include "exec/request/spec_launches.h"
#include "model/settings.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "recording/journal.h"

namespace tune::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOthers = 3;  // of the journals, for each size
constexpr std::size_t kLettersOfDay = 10;

/// `tune retime`: asks whether the results of a database still hold on this machine as it is now. check_failed: a
/// result is slower beyond noise, wrong or lost; undecided: that is open.
struct RetimeOptions {
  fs::path database;
  std::vector<fs::path> runs;
  SelectionOptions selection;
  bool stale = false;
  bool keep_journals = false;  ///< --continue
  std::optional<fs::path> output;
  TuneOptions tuning;
};

void bind(cli::Command& command, RetimeOptions& options) {
  TuneOptions& tuning = options.tuning;
  tuning.tune = true;
  command.path("DB", options.database, "FILE", "The database").required().files(kYamlFiles);
  command
      .several("RUN", options.runs, "FILE",
               "Journals of the tunings that its results are from; the best three others of each size are timed too")
      .files(kRecordings);
  command.list("--yaml", tuning.yaml, "FILE", "The tuning file that its results are from; may be repeated")
      .required()
      .files(kYamlFiles);
  command.flag("--stale", options.stale, "Only list the results of which something has changed; time nothing");
  command.flag("--continue", options.keep_journals, "Go on with a retiming that ended early");
  command.path("--output,-o", options.output, "FILE",
               "Add what is found now, and is not slower, to this database, which may be DB");
  command.share("--threshold", tuning.threshold, "How much slower is no regression (default: 3%)",
                "share below 1, such as 3% or 0.03");
  command.duration("--finals-budget", tuning.finals.budget, "End the finals of each size after this time");
  command.text("--kernel", options.selection.kernel, "NAME",
               "The name of a tuning file, where the database has several");
  command.list("--problem", options.selection.problem, "KEY=V",
               "Only results with this, such as a=bf16; may be repeated");
  command.path("--store", tuning.store.store, "DIR", "The build store (default: ~/.cache/tune/store)");
  command.typed(tuning.typed);
  command.given(tuning.given);
  command.then([&tuning] { add_consequences(tuning); });
}

class Retiming {
 public:
  Retiming(const RetimeOptions& options, const database::Database& database)
      : options_(&options), database_(&database), workers_(find_workers(options.tuning.measure.deadlines)) {}

  /// Asks a worker what the device is here, and finds its results. Throws Error.
  void find_results() {
    const auto groups = database::select_groups(*database_, selection_of(options_->selection));
    backend_ = backend_of(*groups.front());
    if (is_program(backend_))
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: results of kernels are timed again, and these are of the backend '{}'; tune the "
                              "program again with --baseline",
                              options_->database.string(), groups.front()->backend));
    hello_ = &workers_.probe_compiler(backend_);
    if (!hello_->no_device.empty())
      throw Error(ExitCode::environment,
                  hello_->no_device + "; only a device can time results again, or tell what has changed there");
    results_ = newest_results(groups);
    if (results_.empty())
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: there is no result of this machine's {}, but of {}", options_->database.string(),
                              hello_->device.name, devices_of(groups)));
    if (!options_->stale) prefix_ = prefix_in_state_folder(options_->tuning, "retime");
  }

  /// Times them again, and prints what became of them. Precondition: find_results().
  ExitCode run() try {
    if (!options_->stale && !options_->keep_journals) forget_earlier_run();
    for (const database::Found& found : results_) {
      Retimed row{database::to_text(found.sizes), {}, {}, {}, {}, {}};
      code_ = worse(code_, retime(found, row));
      rows_.push_back(std::move(row));
    }
    for (const database::Database& each : to_add_)
      for (const std::string& note : add_to_database(*options_->output, each).notes) print_wrapped("note: " + note);
    if (options_->output && to_add_.empty())
      print_wrapped(fmt::format("note: {}: nothing is added: no result that was timed again is as fast",
                                options_->output->string()));
    print();
    return code_;
  } catch (...) {
    if (!rows_.empty()) print();
    if (!options_->stale) print_wrapped("note: with --continue the same command keeps what it has timed");
    throw;
  }

 private:
  /// So that --continue later goes on with this run alone.
  void forget_earlier_run() const {
    for (const database::Found& found : results_) {
      const std::string files = prefix_ + files_of(found.sizes);
      if (const fs::path journal = files + ".jsonl"; fs::exists(journal)) recording::Journal(journal).clear();
      fs::remove(files + ".yaml");
    }
  }

  /// Of each size the result that is nearest to what is here now, or the latest.
  std::vector<database::Found> newest_results(const std::vector<const database::ResultGroup*>& groups) {
    const database::TunedDevice here = {hello_->device.name, hello_->device.arch, hello_->device.driver,
                                        hello_->compiler, hello_->vendor_library};
    std::map<database::Sizes, std::vector<const database::ResultGroup*>> of_sizes, of_source;
    for (const database::ResultGroup* group : groups) {
      if (group->device.name != here.name) continue;
      std::optional<bool> has_source;
      for (auto each = database_->results.lower_bound({*group, {}});
           each != database_->results.end() && each->first.group == *group; ++each) {
        const database::Sizes& sizes = each->first.sizes;
        if (!has_source)
          has_source = TunedPlan(options_->tuning.yaml, *group, here.name, workers_).has_their_source(sizes);
        of_sizes[sizes].push_back(group);
        if (*has_source) of_source[sizes].push_back(group);
      }
    }
    std::vector<database::Found> newest;
    for (const auto& [sizes, all] : of_sizes) {
      const auto present = of_source.find(sizes);
      newest.push_back(
          *database::look_up(*database_, present != of_source.end() ? present->second : all, {here, sizes, {}}));
    }
    return newest;
  }

  ExitCode retime(const database::Found& found, Retimed& row) {
    const TunedPlan then(options_->tuning.yaml, *found.group, found.group->device.name, workers_);
    Job job = options_->tuning.job;
    job.load = then.load_settings(found.sizes);
    if (is_gpu(backend_)) job.load.state = parse_power_state(found.group->state);
    job.prefix = prefix_ + files_of(found.sizes);
    then.at(found.sizes);  // refuses a file of another problem
    if (!options_->stale) job.baseline = job.prefix->string() + "-then.yaml";
    job.silent = true;
    job.in_full = true;
    Target target(options_->tuning, workers_, std::move(job));
    const auto spec = spec_of(target.plan(), found.configuration.params);
    if (const auto* reason = std::get_if<std::string>(&spec)) {
      row.verdict = "lost";
      row.remark = "the tuning file excludes it: " + *reason;
      return options_->stale ? ExitCode::ok : ExitCode::check_failed;
    }
    const exec::RequestFactory requests(target.plan(), target.hello(), target.job.search.seed);
    const std::vector<std::string> changed = changes(found, requests, std::get<Spec>(spec));
    row.changed = fmt::format("{}", fmt::join(changed, "; "));
    row.verdict = !changed.empty() ? "stale" : options_->stale ? "unchanged" : "same bytes";
    if (changed.empty() || options_->stale) return ExitCode::ok;
    if (!target.job.quiet) platform::print_to_stderr("retime: " + row.sizes + ": " + row.changed);
    write_then(found, std::get<Spec>(spec), target, requests, *target.job.baseline);
    return time(target, found, std::get<Spec>(spec), row);
  }

  static std::string files_of(const database::Sizes& sizes) {
    std::string name;
    for (const auto& [size, value] : sizes) name += fmt::format("-{}{}", size, value);
    return name;
  }

  static std::variant<Spec, std::string> spec_of(const Plan& plan, const std::vector<Setting>& params) try {
    auto spec = plan.space.at(params);
    if (const auto* rejection = std::get_if<Rejection>(&spec)) return rejection->reason;
    return std::get<Spec>(std::move(spec));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }

  /// Of what the result depends on, all that is not as it was; `the source`, `driver 590 instead of 580`.
  static std::vector<std::string> changes(const database::Found& found, const exec::RequestFactory& requests,
                                          const Spec& spec) try {
    const wire::Hello& hello = requests.hello();
    std::vector<std::string> texts = database::differences(
        found.group->device,
        {hello.device.name, hello.device.arch, hello.device.driver, hello.compiler, hello.vendor_library});
    const database::TunedResult& result = *found.result;
    if (!found.group->source.empty() && requests.source_hash() != found.group->source) texts.emplace_back("source");
    if (launches_otherwise(result, requests, spec)) texts.emplace_back("launch");
    const fs::path stored = result.store_path;
    if (texts.empty() && !stored.empty() && stored.parent_path() != requests.build_key(spec))
      texts.emplace_back("flags or definitions");
    return texts;
  } catch (const exec::Unlaunchable& error) {
    return {error.what()};
  }

  /// Notes speak of the file that write_then wrote, which is of no interest.
  void print_note(const results::Note& note, const fs::path& then, const std::string& sizes, bool other_launch) {
    if (note.baseline != then.filename().string())
      print_wrapped("note: " + note.whole());
    else if (!other_launch)
      print_wrapped(fmt::format("note: {}: {}", sizes, note.text));
    else if (!std::exchange(told_of_launch_, true))
      print_wrapped(fmt::format(
          "note: the tuning file gives another grid, block, cluster, shared memory, workspace or other arguments than "
          "when these results were timed, so their recorded times are compared; {}undo this change of launch: or let: "
          "in {}",
          options_->output ? "if it is not wanted, "
                           : fmt::format("keep the new ones with -o {}, or ", options_->database.string()),
          options_->tuning.yaml.front().string()));
  }

  static bool launches_otherwise(const database::TunedResult& result, const exec::RequestFactory& requests,
                                 const Spec& spec) {
    return !result.code.empty() && requests.code_of(spec, result.artifact_hash) != result.code;
  }

  /// The result as a tuning wrote it then. What was built may be launched now only as it was then.
  void write_then(const database::Found& found, const Spec& spec, const Target& target,
                  const exec::RequestFactory& requests, const fs::path& file) const {
    const database::TunedResult& result = *found.result;
    config::BestResult best;
    best.winner = spec;
    best.time = result.time;
    best.checked = result.checked;
    best.artifact_hash = result.artifact_hash;
    if (!launches_otherwise(result, requests, spec)) best.store_path = result.store_path;
    best.device = requests.hello().device;
    best.device.driver = found.group->device.driver;
    best.device.arch = found.group->device.arch;
    best.compiler = found.group->device.compiler;
    best.vendor_library = found.group->device.vendor_library;
    best.source_hash = found.group->source;
    platform::write_file(file, config::write_best(target.loaded.source, target.plan(), best, file.parent_path()));
  }

  /// The fastest others that were recorded, and the default.
  std::vector<Spec> others_of(const database::Found& found, const Target& target) {
    std::vector<Spec> others;
    const auto known = recorded_.find(found.group);
    const RecordedSlowdowns& recorded =
        known != recorded_.end()
            ? known->second
            : recorded_.emplace(found.group, read_slowdowns(*database_, *found.group, options_->runs, {}))
                  .first->second;
    if (known == recorded_.end())
      for (const std::string& note : recorded.notes) print_wrapped("note: " + note);
    const auto size = std::ranges::find(recorded.table.sizes, found.sizes);
    if (size != recorded.table.sizes.end()) {
      std::multimap<double, const database::Configuration*> fastest;
      const auto& slowdowns = recorded.table.of[static_cast<std::size_t>(size - recorded.table.sizes.begin())];
      for (std::size_t i = 0; i < slowdowns.size(); ++i)
        if (slowdowns[i] < database::kUnknownSlowdown) fastest.emplace(slowdowns[i], &recorded.table.configurations[i]);
      const std::string own = to_text(found.configuration.params);
      for (const auto& [slowdown, configuration] : fastest) {
        if (others.size() == kOthers) break;
        if (to_text(configuration->params) == own) continue;
        auto spec = spec_of(target.plan(), configuration->params);
        if (auto* valid = std::get_if<Spec>(&spec)) others.push_back(std::move(*valid));
      }
    }
    results::TuningOutcome ignored;
    const auto grid = target.grid(ignored);
    if (grid && grid->default_spec) others.push_back(*grid->default_spec);
    return others;
  }

  ExitCode time(Target& target, const database::Found& found, const Spec& spec, Retimed& row) {
    std::vector<Spec>& only = target.job.only;
    only = {spec};
    for (const Spec& other : others_of(found, target))
      if (std::ranges::find(only, other.mesh_idx, &Spec::mesh_idx) == only.end()) only.push_back(other);
    const Tuned tuned = tune_one_of_several(target);
    const exec::RequestFactory requests(target.plan(), target.hello(), target.job.search.seed);
    const bool other_launch = launches_otherwise(*found.result, requests, spec);
    for (const results::Note& note : tuned.outcome.notes.notes)
      print_note(note, *target.job.baseline, row.sizes, other_launch);
    const ExitCode code = judge(tuned, spec, other_launch ? "" : found.result->artifact_hash, row);
    if (tuned.best && options_->output && code != ExitCode::check_failed) keep(target, tuned.date);
    return code;
  }

  void keep(const Target& target, const std::string& date) {
    database::Database results = read_results(target.outputs.best);
    const std::string then = target.job.baseline->filename();  // is of no interest later
    for (auto& [key, result] : results.results) {
      result.date = date.substr(0, kLettersOfDay);
      std::erase_if(result.ratios, [&](const auto& ratio) { return ratio.first == then; });
    }
    to_add_.push_back(std::move(results));
  }

  void print() const {
    platform::print_escaped(text_of(rows_, !options_->stale));
    platform::flush_results();
  }

  const RetimeOptions* options_;
  const database::Database* database_;
  exec::Workers workers_;
  Backend backend_ = Backend::cpu;
  const wire::Hello* hello_ = nullptr;
  std::vector<database::Found> results_;
  std::string prefix_;
  std::map<const database::ResultGroup*, RecordedSlowdowns> recorded_;
  std::vector<Retimed> rows_;
  std::vector<database::Database> to_add_;  ///< to the output, when all is timed
  bool told_of_launch_ = false;
  ExitCode code_ = ExitCode::ok;
};

ExitCode retime(const RetimeOptions& options) {
  const database::Database database = database::read_database(options.database);
  Retiming retiming(options, database);
  retiming.find_results();
  return retiming.run();
}

}  // namespace

extern const cli::CommandSpec kRetime = cli::command_spec<RetimeOptions, bind, retime>(
    "retime", "Say which results of a database still hold after a change of driver, compiler or source");

}  // namespace tune::commands

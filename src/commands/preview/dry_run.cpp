#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "commands/preview/build_rows.h"
#include "commands/print_messages.h"
#include "commands/tune/launched_row.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "commands/tune/source_check.h"
#include "exec/request/spec_launches.h"
#include "model/constraints/spec_sample.h"
#include "model/program.h"
#include "platform/files/streams.h"
#include "recording/journal.h"
#include "report/build_table.h"
#include "report/failure_summary.h"
#include "report/shown_text.h"
#include "report/text_page.h"
#include "tuning/searching.h"

namespace tune::commands {
namespace {

constexpr std::size_t kBeforeName = 42;  ///< columns

/// The table, with names that fit a terminal: the values alone, below the names of the parameters.
class Table {
 public:
  Table(const SharedOptions& options, const Plan& plan)
      : look_(list_look(options, plan)), values_only_(look_.width > 0 && !look_.varying.empty()) {
    add("mesh_idx", "predicted (ms)", "limited by",
        values_only_ ? fmt::format("{}", fmt::join(look_.varying, "/")) : "name");
  }

  void add(const Spec& spec, const cost::Prediction& prediction) {
    add(fmt::format("{}", spec.mesh_idx), fmt::format("{:.6f}", 1e3 * prediction.seconds),
        prediction.limit ? to_text(*prediction.limit) : "",
        values_only_ ? report::values_text(spec, look_.varying) : report::list_name(spec, look_));
  }
  void end(const std::string& text) {
    report::TextPage page(look_.width, look_.colors);
    page.prose(text);
    platform::print_escaped(text_ + page.text());
  }

 private:
  void add(std::string_view number, std::string_view time, std::string_view limit, const std::string& name) {
    const auto width = static_cast<std::size_t>(look_.width);
    const std::size_t room = width == 0 ? name.size() : std::max(width, kBeforeName) - kBeforeName;
    text_ += fmt::format("{:>9} {:>14}  {:<13}  {}\n", number, time, limit, report::cut_to(name, room));
  }

  report::ListLook look_;
  bool values_only_;
  std::string text_;
};

[[noreturn]] void refuse(const SharedOptions& options, const std::string& why) {
  throw Error(ExitCode::bad_input,
              fmt::format("--dry-run --top {}: {}; leave --top out to list all specs", *options.terminal.top, why));
}

CostModel model_of(Target& target) {
  const Plan& plan = target.plan();
  if (target.job.search.spec) refuse(target.options, "--spec chooses one spec");
  if (plan.cost_rules.empty())
    refuse(target.options, name_of_input(target.options) +
                               " has no section 'model:' from which times could be predicted" +
                               (std::holds_alternative<Gemm>(plan.problem) ? ", nor do its launches tell a tile" : ""));
  const std::optional<Device> device =
      is_gpu(plan.backend()) ? target.machine.limiting_device(plan.backend()) : target.machine.device(plan.backend());
  if (!device) refuse(target.options, "no device is known to predict times for; name one, such as --device-file h200");
  const auto model = tuning::model_for(target.job.search, plan, *device);
  if (!model && plan.objective != "time" && plan.objective != "gflops")
    refuse(target.options, "only times are predicted, and the objective is " + plan.objective);
  if (!model) refuse(target.options, "too little is known of what " + device->name + " can do");
  return *model;
}

/// Prints the specs for which the model of cost predicts the shortest times, with what limits each: those that a search
/// begins with, behind the default. Throws Error(bad_input) if nothing can be predicted.
ExitCode list_predicted_specs(Target& target, const tuning::Grid& grid) {
  const CostModel model = model_of(target);
  const search::Prior prior(grid.specs, tuning::seconds_by(model, grid.specs));
  std::size_t count = std::min(*target.options.terminal.top, prior.ranked().size());
  if (count == 0) refuse(target.options, "the model has no possible value for any spec");
  if (target.job.search.max_evals) count = std::min(count, static_cast<std::size_t>(*target.job.search.max_evals));
  Table table(target.options, target.plan());
  for (const search::Prior::Ranked& ranked : prior.ranked().first(count)) {
    const Spec spec = grid.specs.spec(ranked.index);
    table.add(spec, *model.predict(spec));
  }
  table.end(fmt::format("{} of {} specs on {}, by {}", count, grid.specs.exact_size().text(), model.device_name(),
                        target.plan().cost_is_inferred ? "what the launches say" : "'model:'"));
  return ExitCode::ok;
}

namespace fs = std::filesystem;

// What is missing on this machine is not looked for: whoever counts need not mean to run here.
ExitCode count(const Target& target) {
  print_warnings(misfits_of_source(target.plan()));
  if (const auto fault = target.default_fault()) print_warnings(std::span(&*fault, 1));
  const std::vector<Restriction> wanted = config::restrictions(target.filters);
  std::string counted;
  std::int64_t known = 0;  // so many at least
  try {
    const ValidSpecs specs(target.plan().space, wanted);
    counted = specs.exact_size().text();
    known = specs.size();
  } catch (const TooEntangled&) {
    const SpecSample sample = sample_specs(target.plan().space, wanted);
    counted = sample.count_text();
    known = std::max<std::int64_t>(std::ssize(sample.points), sample.most > 0 ? 1 : 0);
  }
  const bool bounded = target.job.search.max_evals && *target.job.search.max_evals < known;
  platform::print(
      fmt::format("Number of valid specs: {}\n", bounded ? std::to_string(*target.job.search.max_evals) : counted));
  return known > 0 ? ExitCode::ok : ExitCode::none_valid;
}

/// What is known of the specs of a kernel: whether they can be launched, and what the build store has of them. Where
/// the user names a device that need not be here, the first spec is built for it. Programs are not looked at.
class Check {
 public:
  Check(Target& target) {
    const Plan& plan = target.plan();
    std::error_code ignored;
    const auto is_there = [&](const fs::path& file) { return fs::is_regular_file(file, ignored); };
    if (plan.is_program() || !std::ranges::all_of(files_of(plan), is_there)) return;
    const auto builder = target.machine.builder(plan.backend());
    requests_.emplace(plan, builder.value_or(wire::Hello{}), target.job.search.seed);
    if (!builder) return;
    builds_ = is_gpu(plan.backend()) && (target.options.machine.arch || target.options.machine.device_file);
    exec::WorkerRules rules = worker_rules(target.options, target.workers, plan.backend());
    if (!builds_ && !fs::exists(rules.store.folder, ignored)) return;
    // A dry run ends at once by a signal.
    rules.pool =
        std::make_shared<exec::WorkerPool>(rules.worker, rules.deadlines, std::make_unique<platform::Processes>(false));
    service_.emplace(*requests_, std::move(rules));
  }

  report::BuildRow row(Spec spec) {
    if (!requests_) return {std::move(spec), {}, {}, {}};
    report::BuildRow row = launched_row(std::move(spec), *requests_);
    if (builds_ && !row.loss) build(row.spec);
    if (service_) judge(row, *service_);
    return row;
  }

  std::optional<std::string> reference_fault(const report::BuildRow& row) {
    if (!requests_ || !builds_reference(requests_->plan())) return std::nullopt;
    try {
      requests_->reference_build(row.spec);
    } catch (const exec::Unlaunchable& error) {
      if (row.loss) return std::nullopt;  // the spec cannot be launched either
      return fmt::format("{}: {}", requests_->plan().yaml.filename().string(), error.what());
    }
    return service_ ? commands::reference_fault(row.spec, *service_) : std::nullopt;
  }

 private:
  void build(const Spec& spec) {
    builds_ = false;
    service_->builds().want(spec);
    try {
      if (builds_reference(requests_->plan())) service_->builds().find_or_build_reference(spec);
    } catch (const exec::Unlaunchable&) {  // reference_fault() says it
    }
    service_->finish_builds();
  }

  bool builds_ = false;  ///< the next spec
  std::optional<exec::RequestFactory> requests_;
  std::optional<exec::MeasureService> service_;
};

/// What a run would end with at once.
std::vector<std::string> what_is_missing(const Plan& plan) {
  std::vector<std::string> texts = missing_programs(plan);
  std::error_code ignored;
  for (const fs::path& file : files_of(plan))
    if (!fs::is_regular_file(file, ignored))
      texts.push_back(
          fmt::format("{}: there is no file {}, which a run needs", plan.yaml.filename().string(), file.string()));
  const std::vector<std::string> misfits = misfits_of_source(plan);
  texts.insert(texts.end(), misfits.begin(), misfits.end());
  return texts;
}

/// Says what a run would have to do, and how long that would take, as far as its journal knows. Returns false if it
/// says nothing, because all of this target is known, which tells nothing of the others.
bool print_forecast(const Target& target, const tuning::Grid& grid, std::int64_t count) {
  const auto last = recording::Journal::last_run_of(target.outputs.journal);
  const exec::RequestFactory requests(target.plan(), last ? last->hello : wire::Hello{}, target.job.search.seed);
  tuning::Work work = work_to_do(target, grid, requests.has_build(), count, 1);
  work.tunings = target.of;
  tuning::Forecast forecast(std::move(work));
  const auto known =
      last ? recording::Journal::trials_of(target.outputs.journal) : std::unordered_map<std::string, Trial>();
  forecast.ask(grid, [&](const Spec& spec) {
    const auto trial = known.find(requests.trial_id(spec));
    return trial != known.end() ? &trial->second : nullptr;
  });
  if (target.of > 1 && forecast.all_known()) return false;
  print_wrapped(forecast.answer());
  return true;
}

/// `foreseen`: it was said how long all targets will take, which the first one tells.
ExitCode list(Target& target, bool& foreseen) {
  if (target.job.quiet && !target.job.search.spec && !target.options.partition) return count(target);
  results::TuningOutcome outcome;
  const std::optional<tuning::Grid> grid = target.grid(outcome);
  print_warnings(outcome.notes.warnings);
  if (grid && target.options.terminal.top.value_or(0) > 0) return list_predicted_specs(target, *grid);
  const std::vector<std::string> missing = what_is_missing(target.plan());
  print_warnings(missing);
  const auto strategy = tuning::in_mesh_order(target.job.search.spec, target.options.tune, target.plan(), grid);
  Check check(target);
  const report::ListLook look = list_look(target.options, target.plan());
  report::SpecList list(target.plan().space, look);
  std::vector<report::BuildRow> lost;
  std::optional<std::string> reference_fault;
  std::int64_t count = 0;
  for (auto spec = strategy->ask(); spec; spec = strategy->ask()) {
    if (target.job.search.max_evals && count == *target.job.search.max_evals) break;
    report::BuildRow row = check.row(std::move(*spec));
    if (count++ == 0) reference_fault = check.reference_fault(row);
    if (!target.job.quiet && !platform::print_escaped(list.add(row))) break;
    if (row.loss) lost.push_back(std::move(row));
  }
  report::TextPage page(look.width, look.colors);
  if (!target.job.quiet) page.prose(list.in_all());
  if (!target.job.quiet) page.losses(count > 0 ? report::pruned_lines(outcome.pruned) : grid->why_empty());
  page.losses(report::loss_lines(lost_in(lost), reproducing_command(target.options, target.job)));
  page.prose(fmt::format("Number of valid specs: {}", count));
  platform::print_escaped(page.text());
  if (!target.job.quiet && !foreseen && !target.job.search.spec && count > 0 && lost.empty() && missing.empty())
    foreseen = print_forecast(target, *grid, count);
  if (reference_fault) throw Error(ExitCode::bad_input, *reference_fault);
  return count > std::ssize(lost) ? ExitCode::ok : ExitCode::none_valid;
}

}  // namespace

ExitCode dry_run(const TuneOptions& options) {
  bool foreseen = false;
  return for_each_target(options, [&](Target& target) { return list(target, foreseen); });
}

}  // namespace tune::commands

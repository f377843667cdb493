#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "commands/database/database_update.h"
#include "commands/print_messages.h"
#include "commands/tune/launched_row.h"
#include "commands/tune/modes.h"
#include "commands/tune/rules.h"
#include "commands/tune/tune.h"
#include "model/problem.h"
#include "model/values/text.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/table.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

std::string counts_of(std::int64_t right, std::int64_t wrong) {
  return fmt::format("{} right, {} wrong", right, wrong);
}

/// What a run with --compare has compared with its references, problem by problem.
class CorrectnessSummary {
 public:
  /// `shape`: the problem's sizes; empty if there is only one problem.
  void add(const std::string& shape, std::span<const Trial> trials) {
    std::int64_t right = 0, wrong = 0;
    for (const Trial& trial : trials) {
      const Measurement* measurement = trial.measurement();
      if (measurement != nullptr && measurement->checked) ++right;
      if (trial.is_wrong()) ++wrong;
    }
    right_ += right;
    wrong_ += wrong;
    missing_ += std::ssize(trials) - right - wrong;
    if (shape.empty()) return;
    has_shapes_ = true;
    if (right + wrong == 0) missing_shapes_.push_back(shape);
    if (right + wrong > 0) ++(wrong > 0 ? wrong_shapes_ : right_shapes_);
  }

  /// `compared with the reference: 2 of 3 sizes: 1 right, 1 wrong; missing: 1 size (M=8 N=8 K=8); 2 specs: 1 right, 1
  /// wrong`. Of one problem it is what follows the sizes.
  std::string text() const {
    const std::string specs = fmt::format("{}: {}", plural(right_ + wrong_, "spec"), counts_of(right_, wrong_));
    const std::string lost = missing_ > 0 ? fmt::format("; not compared: {}", plural(missing_, "spec")) : "";
    if (!has_shapes_) return fmt::format("compared with the reference: {}{}\n", specs, lost);
    const std::int64_t shapes = right_shapes_ + wrong_shapes_;
    const std::string missing = missing_shapes_.empty()
                                    ? ""
                                    : fmt::format("; missing: {} ({})", plural(std::ssize(missing_shapes_), "size"),
                                                  fmt::join(missing_shapes_, "; "));
    return fmt::format("compared with the reference: {} of {}: {}{}; {}{}\n", shapes,
                       plural(shapes + std::ssize(missing_shapes_), "size"), counts_of(right_shapes_, wrong_shapes_),
                       missing, specs, lost);
  }

 private:
  std::int64_t right_ = 0, wrong_ = 0, missing_ = 0;  ///< specs
  std::int64_t right_shapes_ = 0, wrong_shapes_ = 0;
  std::vector<std::string> missing_shapes_;
  bool has_shapes_ = false;
};

constexpr std::size_t kLengthOfDate = 10;

/// `- {M: 16, N: 16, K: 16, rowMajorA: T, rowMajorB: N, BM: 32} # TFLOPS: 0.4 time(us): 21.3`
std::string line_of(const Target& target, const config::BestResult& best) {
  const double flops = flops_of(target.plan().problem);
  const std::string rate = flops > 0 ? fmt::format("TFLOPS: {:.4g} ", flops / best.time.seconds * 1e-12) : "";
  return fmt::format("{} # {}time(us): {:.6g}\n",
                     config::configured_shape(target.plan(), target.job.shape(), best.winner), rate,
                     best.time.seconds * 1e6);
}

std::optional<double> ratio_to(const config::BestResult& best, const std::string& baseline) {
  const auto found = std::ranges::find(best.ratios, baseline, &std::pair<std::string, double>::first);
  return found == best.ratios.end() ? std::nullopt : std::optional(found->second);
}

constexpr std::size_t kFirstSpecs = 8;   // most of them are asked for whatever the first results are
constexpr std::int64_t kMostSpecs = 96;  // further ones have hardly a build that these do not have

/// Specs that the search for a target may try, at most as many as it does; the first ones are those that it asks for
/// before it knows any result. Nothing where every spec is tried, or none is valid.
std::vector<Spec> specs_of_search(Target& target) {
  results::TuningOutcome unused;
  const std::optional<tuning::Grid> grid = target.grid(unused);
  if (!grid || grid->specs.size() == 0 || !tuning::wants_search(target.job.search, grid->specs.size())) return {};
  const auto strategy = strategy_of(target, grid, unused.notes);
  std::vector<Spec> specs;
  const std::int64_t count = std::min(target.job.search.max_evals.value_or(kFirstSpecs), kMostSpecs);
  while (std::ssize(specs) < count) {
    std::optional<Spec> spec = strategy->ask();
    if (!spec) break;
    specs.push_back(std::move(*spec));
  }
  return specs;
}

exec::WorkerRules rules_for(Target& target, std::shared_ptr<exec::WorkerPool>& pool) {
  exec::WorkerRules rules = worker_rules(target.options, target.workers, target.plan().backend());
  if (!is_gpu(target.plan().backend())) return rules;
  rules.devices = exec::choose_devices(target.job.devices, target.hello());
  keep_processes_in(pool, rules);
  return rules;
}

/// Queues what searches will ask for: first what each of them asks for first, then what several of them may ask for.
class BuildsAhead {
 public:
  BuildsAhead(exec::Builder& builder, bool with_later) : builder_(&builder), with_later_(with_later) {}

  /// `is_needed`: whether a spec has to be built at all.
  template <typename IsNeeded>
  void add(const exec::RequestFactory& requests, std::span<const Spec> specs, const IsNeeded& is_needed) {
    std::set<std::string> keys;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!is_needed(specs[i])) continue;
      std::string key = requests.build_key(specs[i]);
      if (i < kFirstSpecs)
        count_ += builder_->want_later(key, requests.build(specs[i]));
      else if (with_later_ && keys.insert(key).second)
        later_[std::move(key)].push_back({&requests, specs[i]});
    }
    builder_->start_queued();
  }

  void add_what_several_may_ask_for() {
    for (const auto& [key, uses] : later_)
      if (uses.size() > 1) count_ += builder_->want_later(key, uses.front().requests->build(uses.front().spec));
  }

  int count() const { return count_; }

 private:
  struct Use {
    const exec::RequestFactory* requests;
    Spec spec;
  };

  exec::Builder* builder_;
  bool with_later_;
  std::map<std::string, std::vector<Use>> later_;  ///< by key; one of each target
  int count_ = 0;
};

/// Builds what the searches for these targets will ask for, all in one queue: the few builds of one leave most cores
/// idle. On a GPU they go on in `pool` while the first targets are tuned; elsewhere they would disturb times, and only
/// those that each search asks for first are built, before any tuning. Failed builds are left to the tunings, which
/// report them. Does nothing for runs that search nothing or leave the building to others. Throws Error, Interrupted.
void build_ahead(const TuneOptions& options, std::deque<Target>& targets, std::shared_ptr<exec::WorkerPool>& pool) {
  if (targets.size() < 2 || targets.front().workers.others() != nullptr) return;
  std::deque<exec::RequestFactory> requests;
  std::optional<exec::MeasureService> service;
  std::optional<BuildsAhead> builds;
  std::unordered_map<std::string, Trial> known;
  std::deque<std::future<std::vector<Spec>>> searches;  // of this target and the next ones
  std::size_t begun = 0, at_a_time = 1;
  for (Target& target : targets) {
    const auto& own = requests.emplace_back(target.plan(), target.hello(), target.job.search.seed);
    if (!own.has_build() || target.hello().compiler.empty()) return;
    if (!service) {
      const exec::WorkerRules rules = rules_for(target, pool);
      at_a_time = static_cast<std::size_t>(std::max(rules.jobs, 1));
      service.emplace(own, rules);
      builds.emplace(service->builds().builder(), pool != nullptr);
      if (std::error_code none; !options.demands.fresh && std::filesystem::exists(target.outputs.journal, none))
        known = recording::Journal::trials_of(target.outputs.journal);
    }
    for (; begun < targets.size() && searches.size() < at_a_time; ++begun) {
      Target& next = targets[begun];
      next.hello();  // by this thread: it may start a process
      searches.push_back(std::async([&] { return specs_of_search(next); }));
    }
    const std::vector<Spec> specs = searches.front().get();
    searches.pop_front();
    builds->add(own, specs,
                [&](const Spec& spec) { return !known.contains(own.trial_id(spec)) && !launched_row(spec, own).loss; });
    service->look_after_builds();
  }
  builds->add_what_several_may_ask_for();
  if (builds->count() > 0 && !options.job.quiet)
    print_wrapped(
        fmt::format("building {} kernels that the searches for {} sizes may try", builds->count(), targets.size()));
  if (!pool) service->finish_builds();
}

/// The tunings of a command: one, or one for each shape and model.
class Tunings {
 public:
  explicit Tunings(const TuneOptions& options) : options_(&options) {}

  /// Throws as tune().
  ExitCode tune_one(Target& target) try {
    const config::Shape shape = target.job.shape().value_or(config::Shape{});
    target.job.journal = &journal_;
    if (target.of > 1 && is_gpu(target.plan().backend())) target.job.pool = &pool_;
    if (pool_) pool_->heed_signals();
    target.job.estimated_tunings = estimated_ ? 0 : target.of - static_cast<int>(rows_.size());
    target.job.first = tuning::nearest_winners(tuning::log_sizes(shape), winners_);
    const Tuned tuned = tune(target);
    estimated_ = estimated_ || tuned.estimated;
    add_row(target);
    if (tuned.verdict) ++decisions_[tuned.verdict->decision];
    compared_.add(target.job.label(), tuned.outcome.trials);
    if (tuned.best) add(target, shape, tuned);
    return tuned.code;
  } catch (const Error& error) {
    if (error.code() == ExitCode::none_valid && options_->makes_several()) {
      add_row(target);
      compared_.add(target.job.label(), {});
      if (options_->tune) ++decisions_[Decision::fail];
    }
    throw;
  }

  /// Once all are tuned, or the run ends early.
  void print(bool complete) const {
    if (complete && options_->demands.right_results) platform::print(compared_.text());
    if (!options_->makes_several() || !options_->tune || rows_.empty()) return;
    platform::print_escaped(report::workload_text(rows_, complete, platform::terminal_columns(STDOUT_FILENO)));
    if (!database_.empty()) platform::print_escaped(fmt::format("database: {}\n", database_.string()));
    platform::print(count_text());
    platform::flush_results();
  }

  /// Where the processes of the tunings rest; null until there are some.
  std::shared_ptr<exec::WorkerPool>& pool() { return pool_; }

  void note_complete() {
    if (journal_ != nullptr) journal_->note_complete();
  }

 private:
  void add_row(const Target& target) {
    const config::Shape shape = target.job.shape().value_or(config::Shape{});
    rows_.push_back(
        {target.job.shape() ? config::to_text(shape) : "", target.job.model, shape.calls, {}, {}, {}, "no valid spec"});
  }

  void add(const Target& target, const config::Shape& shape, const Tuned& tuned) {
    const config::BestResult& best = *tuned.best;
    report::WorkloadRow& row = rows_.back();
    row.seconds = best.time.seconds;
    row.x_default = ratio_to(best, "default");
    row.x_vendor = ratio_to(best, "vendor");
    row.found = how_found(tuned);
    winners_.push_back({target.job.label(), tuning::log_sizes(shape), tuning::without_shape(best.winner, shape)});
    write_lines(target, best);
    add_to_database(target, tuned);
  }

  std::string how_found(const Tuned& tuned) const {
    const results::TuningOutcome& outcome = tuned.outcome;
    std::string text = fmt::format("{} of {}", outcome.trials.size(),
                                   outcome.specs.value_or(Natural(std::ssize(outcome.trials))).text());
    text += outcome.finals.interrupted ? ", finals interrupted" : outcome.finals.held() ? ", finals" : ", no finals";
    const auto same = [&](const tuning::TunedShape& shape) { return holds(tuned.best->winner, shape.winner.params); };
    if (const auto other = std::ranges::find_if(winners_, same); other != winners_.end()) text += ", as " + other->name;
    if (!tuned.started_workers) text += ", recorded";
    return text;
  }

  // After each problem the whole file is written, so that an interruption loses none.
  void write_lines(const Target& target, const config::BestResult& best) {
    if (!options_->outputs.tuning_results) return;
    lines_ += line_of(target, best);
    platform::write_file(target.outputs.tuning_results, lines_);
  }

  void add_to_database(const Target& target, const Tuned& tuned) {
    if (target.outputs.database.empty()) return;
    database::Database results = read_results(target.outputs.best);
    for (auto& [key, result] : results.results) result.date = tuned.date.substr(0, kLengthOfDate);
    for (const std::string& note : commands::add_to_database(target.outputs.database, results).notes)
      print_wrapped("note: " + note);
    database_ = target.outputs.database;
  }

  /// `12 tunings: 10 DECIDED, 2 UNDECIDED`
  std::string count_text() const {
    std::vector<std::string> counts;
    for (const auto& [decision, count] : decisions_) counts.push_back(fmt::format("{} {}", count, to_text(decision)));
    return fmt::format("{} tunings: {}\n", rows_.size(), fmt::join(counts, ", "));
  }

  const TuneOptions* options_;
  std::unique_ptr<recording::Journal> journal_;
  std::shared_ptr<exec::WorkerPool> pool_;
  std::vector<tuning::TunedShape> winners_;
  std::vector<report::WorkloadRow> rows_;
  bool estimated_ = false;  ///< how long all of them take was said
  std::map<Decision, int> decisions_;
  CorrectnessSummary compared_;
  std::string lines_;  ///< of --tuning_results_file
  std::filesystem::path database_;
};

}  // namespace

ExitCode tune_all(const TuneOptions& options) {
  Tunings tunings(options);
  const auto tune_one = [&](Target& target) { return tunings.tune_one(target); };
  const auto before = [&](std::deque<Target>& targets) {
    std::error_code ignored;
    const std::filesystem::path& database = targets.front().outputs.database;
    if (std::filesystem::exists(database, ignored)) read_results(database);  // throws where it cannot be added to
    build_ahead(options, targets, tunings.pool());
  };
  try {
    const ExitCode code = for_each_target(options, tune_one, before);
    tunings.print(true);
    if (options.makes_several()) tunings.note_complete();
    return code;
  } catch (...) {
    tunings.print(false);
    throw;
  }
}

}  // namespace tune::commands

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "commands/database/database_update.h"
#include "commands/messages.h"
#include "commands/tune/build_ahead.h"
#include "commands/tune/correctness_summary.h"
#include "commands/tune/modes.h"
#include "commands/tune/tune.h"
#include "model/problem.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "platform/store/store.h"
#include "report/workload_table.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

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

/// The tunings of a command: one, or one for each shape and model.
class Tunings {
 public:
  explicit Tunings(const TuneOptions& options) : options_(&options) {}

  /// Throws as tune().
  ExitCode tune_one(Target& target) try {
    const config::Shape shape = target.job.shape().value_or(config::Shape{});
    target.job.journal = &journal_;
    if (target.of > 1 && is_gpu(target.plan().backend)) target.job.pool = &pool_;
    if (pool_) pool_->heed_signals();
    target.job.estimated_tunings = estimated_ ? 0 : target.of - static_cast<int>(rows_.size());
    target.job.first = tuning::nearest_winners(tuning::log_sizes(shape), winners_);
    const Tuned tuned = tune(*options_, target);
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
    }
    if (options_->tune) ++decisions_[Decision::undecided];
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
                                   outcome.specs.empty() ? std::to_string(outcome.trials.size()) : outcome.specs);
    text += outcome.finals_interrupted ? ", finals interrupted" : outcome.finals ? ", finals" : ", no finals";
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

// Our own journal. A journal may hold several runs, of several problems and devices: those of one problem, kernel and
// device are one recording.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <unordered_map>

#include "model/values/error.h"
#include "recording/recorded_space.h"
#include "recording/recording_text.h"
#include "wire/records.h"

namespace tune::recording {
namespace {

/// What a run was for. A program does not know its problem, but a list of shapes does.
std::string problem_of_run(const wire::RunRecord& run) { return run.problem.empty() ? run.shape : run.problem; }

/// Whether two runs are parts of one recording.
bool continues(const wire::RunRecord& run, const wire::RunRecord& other) {
  return run.name == other.name && problem_of_run(run) == problem_of_run(other) &&
         run.hello.device.name == other.hello.device.name;
}

template <typename Take>
void for_each_line(std::string_view text, Take take) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;  // torn
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// The run that a line begins, if it does.
std::optional<wire::RunRecord> begun_by(std::string_view line) try {
  if (line.find("\"run\"") == std::string_view::npos) return std::nullopt;
  wire::Record record = wire::decode_record(line);
  auto* run = std::get_if<wire::RunRecord>(&record);
  return run != nullptr ? std::optional(std::move(*run)) : std::nullopt;
} catch (const wire::Malformed&) {
  return std::nullopt;
}

/// M64-N64-K64 of a GEMM, which problem_size_text calls `64x64x64 bf16 ...`; empty for other problems.
std::string shape_of_gemm(const std::string& problem) {
  std::smatch sizes;
  static const std::regex kSizes("(\\d+)x(\\d+)x(\\d+)( .*)?");
  return std::regex_match(problem, sizes, kSizes) ? fmt::format("M{}-N{}-K{}", sizes.str(1), sizes.str(2), sizes.str(3))
                                                  : "";
}

/// The last run for a shape: `M=64 N=64` is M64-N64 in the names of its files.
std::int64_t number_of_run_for(const std::string& shape, std::string_view text, const std::string& file) {
  std::int64_t runs = 0, last = 0;
  for_each_line(text, [&](std::string_view line) {
    const auto run = begun_by(line);
    if (!run) return;
    ++runs;
    std::string name = run->shape;
    std::erase(name, '=');
    std::ranges::replace(name, ' ', '-');
    if (name == shape || shape_of_gemm(run->problem) == shape) last = runs;
  });
  if (last == 0)
    throw Error(ExitCode::bad_input,
                fmt::format("{0} holds no run for {1}; this shows one of its {2}:\n\ttune show {0} --run N", file,
                            shape, runs));
  return last;
}

/// What a run printed at its end, with the trials as they were then.
struct Printed {
  wire::ResultsRecord record;
  std::vector<Trial> trials;
};

/// Goes through the records of a journal.
class JournalReader {
 public:
  /// Reads until the end of the run of this number, if there is one; of later runs it only knows how many they are.
  explicit JournalReader(std::string_view text, std::optional<std::int64_t> last = std::nullopt) {
    std::int64_t number = 1;
    for_each_line(text, [&](std::string_view line) {
      if (last && std::ssize(runs_) >= *last && begun_by(line)) ++later_runs_;
      if (later_runs_ == 0) accept(line, number);
      ++number;
    });
    if (runs_.empty()) throw BadJson(text.data(), "the journal names no run");
  }

  /// One for each problem and device, in the order of their last runs.
  std::vector<Recording> recordings() const {
    std::vector<Recording> recordings;
    for (const wire::RunRecord* last : last_runs()) {
      recordings.push_back(begun(*last));
      take_all(*last, recordings.back());
      put_in_order(last->parameters, recordings.back());
    }
    return recordings;
  }

  /// The last of them. Throws BadJson if only others have trials.
  Recording last_recording() const {
    std::vector<Recording> all = recordings();
    if (all.back().trials.empty()) require_none(all);
    return std::move(all.back());
  }

  /// The same with what its runs printed.
  Recording printed_recording() const {
    Recording recording = last_recording();
    std::vector<std::string> order = runs_.back().parameters;
    std::unordered_map<std::string, const std::map<std::string, double>*> metrics;
    for (const auto& [number, printed] : printed_) {
      if (!continues(runs_[number - 1], runs_.back())) continue;
      for (const std::vector<Parameter>& mapping : printed.record.mappings)
        for (const Parameter& parameter : mapping) order.push_back(parameter.name);
      for (const wire::ResultsRecord::Tried& tried : printed.record.trials) metrics[tried.id] = &tried.metrics;
      recording.objectives = printed.record.objectives;
    }
    add_metrics(metrics, recording);
    put_in_order(order, recording);
    return recording;
  }

  /// One run, or all that belongs to the last one if none is as chosen.
  Recording recording_of(const RunChoice& choice) const {
    const std::optional<JournalRun> run = chosen_run(choice);
    const wire::RunRecord& last = run ? runs_[run->number - 1] : runs_.back();
    Recording recording = begun(last);
    if (run && run->results)
      take(*run, recording);
    else
      take_all(last, recording);
    recording.run = run;
    const auto has_trials = [&](const wire::RunRecord* of) {
      return std::ranges::any_of(
          trials_, [&](const auto& trial) { return trial.first > 0 && continues(runs_[trial.first - 1], *of); });
    };
    recording.problems = static_cast<std::size_t>(std::ranges::count_if(last_runs(), has_trials));
    return recording;
  }

 private:
  static std::string what_it_is_of(const Recording& recording) {
    std::string text = "'" + recording.kernel + "'";
    if (!recording.problem.empty()) text += " for " + recording.problem;
    if (!recording.device.name.empty()) text += " on " + recording.device.name;
    return text;
  }

  void require_none(const std::vector<Recording>& all) const {
    std::vector<std::string> held;
    for (const Recording& recording : all)
      if (!recording.trials.empty()) held.push_back(what_it_is_of(recording));
    if (held.empty()) return;
    throw BadJson(last_run_at_,
                  fmt::format("this last run of the journal is of {}, and the journal holds no trial of that, but "
                              "trials of {}; to read those, give the tuning file the name and problem that they have, "
                              "and run it once more",
                              what_it_is_of(all.back()), fmt::join(held, ", ")));
  }

  /// Of each problem and device.
  std::vector<const wire::RunRecord*> last_runs() const {
    std::vector<const wire::RunRecord*> lasts;
    for (const wire::RunRecord& run : runs_) {
      std::erase_if(lasts, [&](const wire::RunRecord* last) { return continues(*last, run); });
      lasts.push_back(&run);
    }
    return lasts;
  }

  void accept(std::string_view line, std::int64_t number) try {
    wire::Record record = wire::decode_record(line);
    if (auto* run = std::get_if<wire::RunRecord>(&record)) {
      runs_.push_back(std::move(*run));
      last_run_at_ = line.data();
      earlier_ = latest_;
    }
    if (auto* trial = std::get_if<wire::TrialRecord>(&record)) accept(std::move(*trial));
    if (auto* held = std::get_if<wire::FinalsRecord>(&record))
      finals_.emplace_back(runs_.size(), std::move(held->finals));
    if (auto* results = std::get_if<wire::ResultsRecord>(&record)) accept(std::move(*results));
  } catch (const wire::OlderFinals&) {
    finals_.emplace_back(runs_.size(), std::nullopt);
  } catch (const wire::Malformed& malformed) {
    if (runs_.empty()) throw BadJson(line.data(), std::string("this is no record of a journal: ") + malformed.what());
    damaged_.add(number, malformed.what());
  }

  void accept(wire::TrialRecord record) {
    const Measurement* measurement = record.trial.measurement();
    if (measurement != nullptr && !is_time(measurement->timing.median))
      throw wire::Malformed("its time is not positive, or one that no launch takes");
    if (record.at > 0) record.at = latest_ = std::max(latest_, earlier_ + record.at);
    last_of_[record.id] = trials_.size();
    trials_.emplace_back(runs_.size(), std::move(record));
  }

  void accept(wire::ResultsRecord record) {
    if (runs_.empty()) return;
    Printed printed{std::move(record), {}};
    const Space space = space_of(printed.record);
    for (const wire::ResultsRecord::Tried& tried : printed.record.trials) {
      const auto found = last_of_.find(tried.id);
      if (found == last_of_.end()) continue;
      Trial trial = trials_[found->second].second.trial;
      trial.spec = numbered(space, tried.mesh_idx, trial.spec);
      if (auto* measurement = std::get_if<Measurement>(&trial.outcome))
        for (const auto& [name, value] : tried.metrics) measurement->metrics.insert_or_assign(name, value);
      printed.trials.push_back(std::move(trial));
    }
    printed_.insert_or_assign(runs_.size(), std::move(printed));
  }

  /// Specs whose values are written the same, such as 1 and "1", share a trial.
  static bool are_alike(const Spec& spec, const std::vector<Setting>& recorded) {
    return std::ranges::all_of(recorded, [&](const Setting& setting) {
      const auto found = std::ranges::find(spec.params, setting.name, &Setting::name);
      return found != spec.params.end() && key_text(found->value) == key_text(setting.value);
    });
  }

  /// The spec as it was in the grid of a run: the record of its trial may be of an earlier grid, and does not tell the
  /// order of the parameters.
  static Spec numbered(const Space& space, std::int64_t mesh_idx, const Spec& recorded) {
    const auto size = space.product_size();
    const bool is_numbered = mesh_idx >= 0 && (!size || mesh_idx < *size);
    const auto point = space.point(is_numbered ? Spec{mesh_idx, {}} : Spec{-1, recorded.params});
    if (!point || !are_alike(space.spec(*point), recorded.params))
      throw wire::Malformed(fmt::format("its spec {} is not what was tried under this number", mesh_idx));
    return space.spec(*point);
  }

  std::optional<JournalRun> chosen_run(const RunChoice& choice) const {
    const std::size_t number = chosen_number(choice);
    if (number == 0) return std::nullopt;
    JournalRun run{number, runs_.size() + later_runs_, runs_[number - 1], {}, {}};
    if (const auto found = printed_.find(number); found != printed_.end()) {
      run.results = found->second.record;
      run.trials = found->second.trials;
    }
    return run;
  }

  /// 0: there is none.
  std::size_t chosen_number(const RunChoice& choice) const {
    if (choice.number) {
      if (*choice.number >= 1 && *choice.number <= std::ssize(runs_)) return static_cast<std::size_t>(*choice.number);
      throw Error(ExitCode::bad_input,
                  fmt::format("there is no run {}: the journal holds {}", *choice.number, runs_.size()));
    }
    if (!choice.tuned) return runs_.size();
    for (auto run = printed_.rbegin(); run != printed_.rend(); ++run)
      if (run->second.record.tuned && !run->second.record.part && !run->second.trials.empty() &&
          continues(runs_[run->first - 1], runs_.back()))
        return run->first;
    return 0;
  }

  Recording begun(const wire::RunRecord& last) const {
    Recording recording;
    recording.damaged = damaged_;
    recording.device = last.hello.device;
    recording.backend = last.hello.backend;
    recording.kernel = last.name;
    recording.problem = problem_of_run(last);
    recording.protocol = last.protocol;
    recording.date = last.date;
    recording.flops = last.flops;
    recording.bytes = last.bytes;
    recording.peak_flops = last.peak_flops;
    return recording;
  }

  static void take(const JournalRun& run, Recording& recording) {
    for (const std::vector<Parameter>& mapping : run.results->mappings)
      for (const Parameter& parameter : mapping) add_values(recording.parameters, parameter);
    for (const Trial& trial : run.trials) recording.trials.push_back(to_recorded(trial));
    recording.finals = run.results->finals;
    recording.objectives = run.results->objectives;
    recording.time = run.results->time;
  }

  // The trials of a recording are those of its runs, in their order.
  void add_metrics(const std::unordered_map<std::string, const std::map<std::string, double>*>& metrics,
                   Recording& recording) const {
    auto to = recording.trials.begin();
    for (const auto& [run, record] : trials_) {
      if (run == 0 || !continues(runs_[run - 1], runs_.back())) continue;
      const auto found = metrics.find(record.id);
      if (auto* measured = std::get_if<Measurement>(&to->outcome); measured != nullptr && found != metrics.end())
        for (const auto& [name, value] : *found->second) measured->metrics.insert_or_assign(name, value);
      ++to;
    }
  }

  /// What the order does not name comes last.
  static void put_in_order(std::span<const std::string> order, Recording& recording) {
    const auto place = [&](const auto& named) { return std::ranges::find(order, named.name) - order.begin(); };
    std::ranges::stable_sort(recording.parameters, {}, place);
    for (RecordedTrial& trial : recording.trials) std::ranges::stable_sort(trial.settings, {}, place);
  }

  static void add_values(std::vector<Parameter>& parameters, const Parameter& added) {
    const auto known = std::ranges::find(parameters, added.name, &Parameter::name);
    if (known == parameters.end()) {
      parameters.push_back(added);
      return;
    }
    for (const Value& value : added.values)
      if (std::ranges::find(known->values, value) == known->values.end()) known->values.push_back(value);
  }

  void take_all(const wire::RunRecord& last, Recording& recording) const {
    const auto is_part = [&](std::size_t run) { return run > 0 && continues(runs_[run - 1], last); };
    for (const auto& [run, held] : finals_) {
      if (!is_part(run)) continue;
      recording.has_older_finals = !held;
      recording.finals = held;
    }
    for (const auto& [run, record] : trials_) {
      if (!is_part(run)) continue;
      recording.trials.push_back(to_recorded(record.trial));
      recording.trials.back().at = record.at;
      for (const Setting& setting : recording.trials.back().settings) add_value(recording.parameters, setting);
    }
    const auto printed = printed_.find(static_cast<std::size_t>(&last - runs_.data()) + 1);
    recording.time = printed == printed_.end() ? TimeRule() : printed->second.record.time;
    if (printed != printed_.end()) recording.verdict = printed->second.record.verdict;
  }

  std::vector<wire::RunRecord> runs_;
  const char* last_run_at_ = nullptr;  ///< the line of the last one
  std::size_t later_runs_ = 0;         ///< after the one that is asked for
  // Each with the number of its run.
  std::vector<std::pair<std::size_t, wire::TrialRecord>> trials_;
  std::vector<std::pair<std::size_t, std::optional<Finals>>> finals_;  // of older versions nothing
  std::map<std::size_t, Printed> printed_;
  std::unordered_map<std::string, std::size_t> last_of_;  ///< the last of the trials with this identity
  wire::DamagedLines damaged_;
  double earlier_ = 0, latest_ = 0;  ///< seconds of the sweeps before this one, and until now
};

}  // namespace

std::vector<Recording> read_journal(std::string_view text) { return JournalReader(text).recordings(); }

Recording read_printed_journal(std::string_view text) { return JournalReader(text).printed_recording(); }

Recording read_journal_run(std::string_view text, const std::string& file, const RunChoice& choice) {
  const auto number = choice.shape.empty() ? choice.number : number_of_run_for(choice.shape, text, file);
  // Up to the last run for this shape, of which one that sought the best may be meant.
  const bool by_shape = !choice.shape.empty() && choice.tuned;
  return JournalReader(text, number).recording_of({by_shape ? std::nullopt : number, choice.tuned});
}

}  // namespace tune::recording

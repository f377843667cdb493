#include "simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>

#include "conclusion.h"
#include "config/device_file.h"
#include "config/filter.h"
#include "exchange.h"
#include "exec/replay_runner.h"
#include "interop/recorded_space.h"
#include "model/valid_specs.h"
#include "report/text.h"
#include "search/listed.h"
#include "searching.h"
#include "streams.h"
#include "survey.h"
#include "tuner.h"

namespace tune {
namespace {

using Time = report::Progress::Time;

class Simulation {
 public:
  explicit Simulation(const Options& options, SimulationHooks hooks = {})
      : options_(options),
        hooks_(std::move(hooks)),
        recording_(read_recording(*options.simulate)),
        trials_(recording_),
        loaded_(options.yaml.empty() ? plan_of_recording() : load_plan()),
        objective_(loaded_.plan),
        outputs_(options, "") {
    must_be_of_the_same_kernel();
    must_have_the_same_parameters();
    outputs_.journal.clear();
    std::vector<std::filesystem::path> inputs = options.yaml;
    inputs.push_back(*options.simulate);
    outputs_.must_not_be(inputs);
  }

  ExitCode run() {
    const auto asked = strategy();
    Exchange exchange(outputs_, loaded_.plan, objective_, recording_.device);
    sweep(*asked, [&](const Trial& trial) { exchange.add(trial); });
    if (options_.tune && options_.finals && recording_.finals) take_finals(*recording_.finals);
    if (options_.tune && options_.finals && recording_.has_older_finals)
      findings_.notes.push_back(recording_.file + ": finals of an older version are left out");
    std::ranges::copy(recording_.damaged.texts(recording_.file), std::back_inserter(findings_.notes));
    findings_.notes.push_back(
        fmt::format("simulated: {} of the {} specs of {}{}; seconds are those of the recording",
                    findings_.trials.size(), recording_.trials.size(), recording_.file,
                    recording_.device.name.empty() ? "" : fmt::format(" on {}", recording_.device.name)));
    const Conclusion conclusion(options_, loaded_, objective_, findings_);
    print(conclusion.text());
    flush_results();
    outputs_.make_folders();
    conclusion.write_files(outputs_, recording_.device);
    exchange.finish();
    if (options_.compare && conclusion.any_wrong()) return ExitCode::check_failed;
    if (const auto why = options_.noise ? conclusion.too_uncertain(*options_.noise) : std::nullopt) {
      print_error(*why);
      return ExitCode::check_failed;
    }
    return conclusion.any() ? ExitCode::ok : ExitCode::none_valid;
  }

  std::optional<SimulatedWinner> winner() {
    sweep(*strategy(), [](const Trial&) {});
    const Trial* chosen = choose();
    if (chosen == nullptr) return std::nullopt;
    const auto best = best_recorded(wanted_specs()), own = recorded_merit(chosen->spec);
    if (!best || !own) return std::nullopt;
    if (!(best->value > 0) || !(own->value > 0))
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: {} is 0 or negative, so that nothing can be said relative to the best",
                              recording_.file, objective_.name()));
    return SimulatedWinner{*chosen, best->maximize ? best->value / own->value : own->value / best->value};
  }

 private:
  LoadOptions load_options() const {
    LoadOptions load;
    load.params = options_.params;
    load.m = options_.m;
    load.n = options_.n;
    load.k = options_.k;
    load.backend = options_.backend;
    load.objectives = options_.objectives;
    load.figures = figures_of(recording_);
    load.file_must_exist = false;
    std::optional<Device> from_file;
    if (options_.device_file) from_file = read_device(*options_.device_file);
    load.probe = [this, from_file](Backend) {
      if (from_file) return *from_file;
      if (!recording_.device.properties.empty()) return recording_.device;
      throw Error(ExitCode::bad_input, recording_.file +
                                           ": the recording does not tell the properties of its device, "
                                           "which an expression uses; give them with --device-file");
    };
    return load;
  }

  Loaded load_plan() const {
    Loaded loaded = load(options_.yaml, load_options());
    // Who replays a recording without saying what for wants what it was recorded for.
    const bool silent = options_.objectives.empty() && loaded.source.root.find("objective") == nullptr;
    if (silent && recording_.format != Recording::Format::journal) set_objectives(loaded.plan, recording_.objectives);
    return loaded;
  }

  void set_objectives(Plan& plan, const std::vector<std::string>& written) const {
    std::vector<std::string> known = figures_of(recording_);
    known.push_back("time");
    for (const Metric& metric : plan.metrics) known.push_back(metric.name);
    std::vector<std::string> names;
    for (const std::string& name : written) {
      if (std::ranges::find(known, name) == known.end())
        throw Error(ExitCode::bad_input, fmt::format("{}: the recording has no figure '{}' to be the objective{}",
                                                     recording_.file, name, did_you_mean(name, known)));
      names.push_back(name);
    }
    plan.objective = names.front();
    plan.other_objectives.assign(names.begin() + 1, names.end());
  }

  Loaded plan_of_recording() const {
    if (!options_.params.empty() || options_.m || options_.n || options_.k)
      throw Error(ExitCode::bad_input, "--param, -m, -n and -k change a tuning file's grid; give it with --yaml");
    Loaded loaded;
    loaded.plan.name = recording_.kernel.empty() ? options_.simulate->stem().string() : recording_.kernel;
    loaded.plan.yaml = *options_.simulate;
    loaded.plan.file_as_written = options_.simulate->string();
    loaded.plan.space = space_of(recording_);
    loaded.source.folder = std::filesystem::absolute(*options_.simulate).parent_path();
    loaded.source.root = make_mapping({});
    loaded.source.root.set("name", make_text(loaded.plan.name, {}));
    set_objectives(loaded.plan, options_.objectives.empty() ? recording_.objectives : options_.objectives);
    return loaded;
  }

  void must_be_of_the_same_kernel() const {
    const Plan& plan = loaded_.plan;
    if (recording_.kernel.empty() || recording_.kernel == plan.name || recording_.kernel == plan.kernel) return;
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the recording is of '{}', and {} tunes '{}'{}", recording_.file, recording_.kernel,
                            plan.yaml.filename().string(), plan.name,
                            plan.kernel.empty() ? "" : fmt::format(" (kernel '{}')", plan.kernel)));
  }

  void must_have_the_same_parameters() const {
    std::vector<std::string> names;
    for (const Space::Mapping& mapping : loaded_.plan.space.mappings())
      for (const Parameter& parameter : mapping.parameters) names.push_back(parameter.name);
    const auto fail = [&](const std::string& text) {
      throw Error(ExitCode::bad_input, fmt::format("{}: {}", recording_.file, text));
    };
    for (const std::string& name : names)
      if (std::ranges::find(recording_.parameters, name, &Parameter::name) == recording_.parameters.end())
        fail(fmt::format("the recording does not know the parameter {} of {}", name,
                         loaded_.plan.yaml.filename().string()));
    for (const Parameter& parameter : recording_.parameters)
      if (parameter.values.size() > 1 && std::ranges::find(names, parameter.name) == names.end())
        fail(fmt::format("the recording has {} values of {}, which is no parameter of {}", parameter.values.size(),
                         parameter.name, loaded_.plan.yaml.filename().string()));
  }

  /// Those that pass the filters: of the tuning file's grid, or of what was recorded.
  ValidSpecs wanted_specs() {
    const Plan& plan = loaded_.plan;
    const std::vector<Filter> filters = parse_filters(options_.filters, plan.space);
    if (!options_.yaml.empty()) {
      Survey survey(plan, filters, false);
      findings_.pruned = survey.pruned;
      findings_.default_spec = survey.default_spec;
      if (survey.specs.size() == 0) throw Error(ExitCode::none_valid, "no spec is left\n" + survey.why_empty());
      return std::move(survey.specs);
    }
    std::vector<Space::Point> points = points_of(recording_, plan.space);
    std::erase_if(points, [&](const Space::Point& point) { return !matches(filters, plan.space.spec(point)); });
    return {plan.space, std::move(points)};
  }

  std::unique_ptr<Strategy> strategy() {
    ValidSpecs specs = wanted_specs();
    if (options_.stop_within) enough_ = enough(specs, *options_.stop_within);
    if (wants_search(options_, specs.size())) return make_strategy(options_, std::move(specs), {}, objective_);
    std::deque<Spec> listed;
    for (std::int64_t i = 0; i < specs.size(); ++i)
      if (Spec spec = specs.spec(i); !options_.spec || spec.mesh_idx == *options_.spec)
        listed.push_back(std::move(spec));
    if (listed.empty())
      throw Error(ExitCode::bad_input,
                  fmt::format("no spec of {} is left to be simulated", loaded_.plan.yaml.filename().string()));
    return std::make_unique<Listed>(std::move(listed));
  }

  void sweep(Strategy& asked, const std::function<void(const Trial&)>& listener) {
    report::ProgressStyle style;
    style.quiet = true;
    report::Progress progress(std::cerr, style, std::nullopt, clock_);
    ReplayRunner runner([this](const Spec& spec) { return replayed(spec); },
                        [this]() -> Runner& { throw unknown({}); });
    TunerRules rules;
    rules.max_evals = options_.max_evals;
    rules.time_budget = options_.time_budget;
    rules.enough = enough_;
    rules.keep_going = true;
    Tuner tuner(objective_, nullptr, runner, nullptr, progress, rules, [this] { return clock_; });
    tuner.set_listener(listener);
    tuner.sweep(asked);
    findings_.trials = std::move(tuner.trials());
    findings_.elapsed_seconds = std::chrono::duration<double>(clock_.time_since_epoch()).count();
  }

  const Trial* choose() const {
    if (hooks_.choose) return hooks_.choose(findings_.trials, objective_);
    const Conclusion conclusion(options_, loaded_, objective_, findings_);
    return conclusion.any() ? conclusion.rows().front().trial : nullptr;
  }

  /// Recorded finals count if all who met there are among the specs of this replay: then the best is theirs.
  void take_finals(Finals finals) {
    for (Finalist& finalist : finals.finalists) {
      if (!finalist.label.empty()) continue;
      const auto point = loaded_.plan.space.point(Spec{-1, finalist.spec.params});
      const auto idx = point ? loaded_.plan.space.spec(*point).mesh_idx : -1;
      const auto trial = std::ranges::find(findings_.trials, idx, [](const Trial& t) { return t.spec.mesh_idx; });
      if (trial == findings_.trials.end()) {
        findings_.notes.push_back("the recorded finals do not count: a spec that met there is not among these");
        return;
      }
      finalist.spec = trial->spec;
      if (finalist.is_default) findings_.default_spec = trial->spec;
    }
    findings_.finals = std::move(finals);
  }

  // The best there can be is the best that was recorded.
  std::optional<double> enough(const ValidSpecs& specs, double within) const {
    const std::optional<Merit> best = best_recorded(specs);
    if (!best) return std::nullopt;
    const bool scaled_down = best->maximize == (best->value > 0);
    return scaled_down ? best->value * (1 - within) : best->value / (1 - within);
  }

  std::optional<Merit> best_recorded(const ValidSpecs& specs) const {
    std::optional<Merit> best;
    for (const Space::Point& point : points_of(recording_, loaded_.plan.space)) {
      if (!specs.contains(point)) continue;
      const auto merit = recorded_merit(specs.spec(point));
      if (merit && (!best || (merit->maximize ? merit->value > best->value : merit->value < best->value))) best = merit;
    }
    return best;
  }

  std::optional<Merit> recorded_merit(const Spec& spec) const {
    const auto* measurement = std::get_if<Measurement>(&trials_.find(spec.params)->outcome);
    if (measurement == nullptr) return std::nullopt;
    const Merit merit = objective_.merit(spec, *measurement);
    return std::isfinite(merit.value) ? std::optional(merit) : std::nullopt;
  }

  Error unknown(const Spec& spec) const {
    std::vector<std::string> names;
    for (const Setting& setting : spec.params) names.push_back(setting.name);
    return {ExitCode::bad_input,
            fmt::format("{}: spec {} ({}) is not in the recording; narrow the grid with --param or --filter, or leave "
                        "--yaml out to search what was recorded",
                        recording_.file, spec.mesh_idx, report::settings_text(spec, names))};
  }

  Trial replayed(const Spec& spec) {
    const RecordedTrial* recorded = trials_.find(spec.params);
    if (recorded == nullptr) throw unknown(spec);
    const double seconds = recorded->build_seconds + recorded->measure_seconds;
    clock_ += std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(std::min(seconds, 1e6)));
    Outcome outcome = hooks_.answer ? hooks_.answer(spec, recorded->outcome, objective_) : recorded->outcome;
    return {spec, std::move(outcome), seconds, true, recorded->measure_seconds};
  }

  const Options& options_;
  SimulationHooks hooks_;
  Recording recording_;
  RecordedTrials trials_;
  Loaded loaded_;
  Objective objective_;
  Outputs outputs_;
  Findings findings_;
  std::optional<double> enough_;  ///< a merit that is near enough to the best recorded one
  Time clock_{};                  ///< the recording's seconds so far
};

}  // namespace

ExitCode simulate(const Options& options) { return Simulation(options).run(); }

std::optional<SimulatedWinner> simulated_winner(const Options& options, const SimulationHooks& hooks) {
  return Simulation(options, hooks).winner();
}

}  // namespace tune

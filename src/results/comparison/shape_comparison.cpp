#include "results/comparison/shape_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "recording/recording.h"

namespace tune::results {
namespace {

/// By so much the speed of a CPU, or of a program, may differ between runs. (Two cores may be one physical core.)
constexpr double kLeastSlowdown = 2;
bool varies(Backend backend) { return backend == Backend::cpu || backend == Backend::program; }

/// The values of each parameter in both results.
class Parameters {
 public:
  Parameters(const ProblemTimes& before, const ProblemTimes& now) {
    for (const SpecTimes& spec : before.specs) add(spec.spec, before_);
    for (const SpecTimes& spec : now.specs) add(spec.spec, now_);
  }

  /// A parameter that only one of them has does not tell specs apart if it has one value there.
  std::string key(const Spec& spec) const {
    std::set<std::string> settings;
    for (const Setting& setting : spec.params)
      if (counts(setting.name)) settings.insert(setting.name + '=' + text_of(setting));
    return fmt::format("{}", fmt::join(settings, "\n"));
  }

  std::vector<std::string> varying() const {
    std::vector<std::string> names;
    for (const std::string& name : order_)
      if (values_of(name).size() > 1 || exact_.contains(name)) names.push_back(name);
    return names.empty() ? order_ : names;
  }

 private:
  /// Of each parameter the values by their key_text, with the exact_text of the first one.
  using Values = std::map<std::string, std::map<std::string, std::string>>;

  void add(const Spec& spec, Values& values) {
    for (const Setting& setting : spec.params) {
      if (std::ranges::find(order_, setting.name) == order_.end()) order_.push_back(setting.name);
      // The same from a file that tells numbers, booleans and texts apart, and from one that does not.
      std::string& exact = values[setting.name]
                               .emplace(recording::key_text(setting.value), recording::exact_text(setting.value))
                               .first->second;
      if (exact != recording::exact_text(setting.value)) exact_.insert(setting.name);
    }
  }

  std::string text_of(const Setting& setting) const {
    return exact_.contains(setting.name) ? recording::exact_text(setting.value) : recording::key_text(setting.value);
  }

  std::set<std::string> values_of(const std::string& name) const {
    std::set<std::string> values;
    for (const Values* side : {&before_, &now_})
      if (const auto found = side->find(name); found != side->end())
        for (const auto& [text, exact] : found->second) values.insert(text);
    return values;
  }

  bool counts(const std::string& name) const {
    return (before_.contains(name) && now_.contains(name)) || values_of(name).size() > 1 || exact_.contains(name);
  }

  std::vector<std::string> order_;
  Values before_, now_;
  std::set<std::string> exact_;  ///< parameters of which one result has values with the same key_text
};

/// Times of the same kind, as far as there are any.
void add_times(const SpecTimes& before, const SpecTimes& now, ComparedSpec& row) {
  const bool finals = (before.finals && now.finals) || !before.sweep || !now.sweep;
  const auto time_of = [finals](const SpecTimes& spec) { return finals && spec.finals ? spec.finals : spec.sweep; };
  row.before = time_of(before);
  row.now = time_of(now);
  row.failure = now.failure;
}

/// Of the finalists: each was timed in a process of the sweep and in one of the finals.
std::vector<double> ratios_between_processes(const ProblemTimes& run) {
  std::vector<double> ratios;
  for (const SpecTimes& spec : run.specs)
    if (spec.sweep && spec.sweep->interval && spec.finals) ratios.push_back(spec.finals->seconds / spec.sweep->seconds);
  return ratios;
}

class ShapeComparer {
 public:
  ShapeComparer(const ProblemTimes& before, const ProblemTimes& now)
      : before_(before), now_(now), parameters_(before, now) {}

  ComparedShape compare() {
    shape_.problem = now_.problem.empty() ? before_.problem : now_.problem;
    shape_.varying = parameters_.varying();
    const std::array ratios = {ratios_between_processes(before_), ratios_between_processes(now_)};
    shape_.process_noise = process_noise(ratios);
    if (varies(before_.backend) || varies(now_.backend)) shape_.least_slowdown = kLeastSlowdown;
    add_best();
    add_baselines();
    add_specs();
    return std::move(shape_);
  }

 private:
  void add_best() {
    const SpecTimes& old_best = before_.specs[*before_.best];
    ComparedSpec row;
    row.entrant = {old_best.spec, Entrant::Kind::best, "best"};
    row.old_spec = old_best.spec;
    if (now_.best) {
      row.entrant.spec = now_.specs[*now_.best].spec;
      add_times(old_best, now_.specs[*now_.best], row);
    } else {
      add_times(old_best, {{}, {}, {}, why_no_time(now_)}, row);
    }
    shape_.best.push_back(std::move(row));
  }

  void add_baselines() {
    for (const auto& [label, time] : before_.baselines) {
      const auto same = std::ranges::find(now_.baselines, label, [](const auto& other) { return other.first; });
      if (same == now_.baselines.end()) continue;
      ComparedSpec row;
      row.entrant = entrant_of(label);
      row.before = time;
      row.now = same->second;
      shape_.best.push_back(std::move(row));
    }
  }

  void add_specs() {
    std::map<std::string, const SpecTimes*> unmatched;
    for (const SpecTimes& spec : now_.specs) unmatched.emplace(parameters_.key(spec.spec), &spec);
    for (const SpecTimes& spec : before_.specs) {
      const auto same = unmatched.find(parameters_.key(spec.spec));
      if (same == unmatched.end()) {
        add_lone(spec, Change::only_before);
        continue;
      }
      ComparedSpec row;
      row.entrant.spec = same->second->spec;
      add_times(spec, *same->second, row);
      if (row.before || row.now) shape_.specs.push_back(std::move(row));
      unmatched.erase(same);
    }
    for (const auto& [key, spec] : unmatched) add_lone(*spec, Change::only_now);
  }

  void add_lone(const SpecTimes& spec, Change change) {
    ComparedSpec row;
    row.entrant.spec = spec.spec;
    row.change = change;
    row.failure = spec.failure;
    (change == Change::only_before ? row.before : row.now) = spec.finals ? spec.finals : spec.sweep;
    shape_.specs.push_back(std::move(row));
  }

  const ProblemTimes& before_;
  const ProblemTimes& now_;
  Parameters parameters_;
  ComparedShape shape_;
};

}  // namespace

std::string why_no_time(const ProblemTimes& problem) {
  return problem.specs.empty() ? "every spec was pruned after its build" : problem.specs.front().failure;
}

ComparedShape compared_shape(const ProblemTimes& before, const ProblemTimes& now) {
  return ShapeComparer(before, now).compare();
}

}  // namespace tune::results

#include "commands/database/recorded_slowdowns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/problem_size.h"
#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "recording/recording.h"

namespace tune::commands {
namespace {

/// The problem as a journal names it.
std::string recorded_problem(const database::ResultGroup& group, const database::Sizes& sizes) {
  const auto text = [&](const char* key) {
    const auto found = group.problem.find(key);
    return found != group.problem.end() ? found->second : std::string();
  };
  const auto layout = [&](const char* key) { return text(key) == "col" ? Layout::col : Layout::row; };
  const auto scale = [&](const char* key, const auto& names) {
    const auto found = std::ranges::find(names, text(key));
    return found != names.end() ? static_cast<Scale>(found - names.begin()) : Scale::none;
  };
  std::map<std::string, Value> constants;
  if (!group.problem.contains("layout_a")) {
    for (const auto& [name, size] : sizes) constants[name] = size;
    for (const auto& [name, value] : group.problem) constants[name] = parse_value(value);
    return problem_size_text(Custom{}, constants);
  }
  Gemm gemm;
  gemm.m = database::size_of(sizes, "m").value_or(0);
  gemm.n = database::size_of(sizes, "n").value_or(0);
  gemm.k = database::size_of(sizes, "k").value_or(0);
  gemm.batch = database::size_of(sizes, "batch").value_or(1);
  if (const auto groups = database::size_of(sizes, "groups")) {
    gemm.group_offsets.resize(static_cast<std::size_t>(*groups) + 1);
    gemm.routing = text("routing");
    gemm.max_rows = database::size_of(sizes, "max_rows").value_or(0);
    gemm.any_padding = text("padding") == "any";
  }
  gemm.a = parse_type(text("a")).value_or(Type::f32);
  gemm.b = parse_type(text("b")).value_or(Type::f32);
  gemm.c = parse_type(text("c")).value_or(Type::f32);
  gemm.epilogue = parse_epilogue(text("epilogue")).value_or(Epilogue::none);
  gemm.residual = text("residual") == "true";
  gemm.scale_a = scale("scale_a", kScalesOfA);
  gemm.scale_b = scale("scale_b", kScalesOfB);
  gemm.layout_a = layout("layout_a");
  gemm.layout_b = layout("layout_b");
  gemm.layout_c = layout("layout_c");
  return problem_size_text(gemm, constants);
}

/// A configuration of a run, and how much slower it is than the run's best.
struct Timed {
  database::Configuration configuration;
  std::string key;  ///< its parameters as a text
  double sweep = 0;
  std::optional<double> finals;
};

/// Puts parameters into the order in which another configuration has them: a journal has its own.
void put_in_order(std::vector<Setting>& params, const std::vector<Setting>& order) {
  std::ranges::stable_sort(params, {}, [&](const Setting& setting) {
    return std::ranges::find(order, setting.name, &Setting::name) - order.begin();
  });
}

/// Whether the sizes are parameters of a program that has no problem of its own.
bool is_of_parameters(const database::ResultGroup& group) {
  return is_program(backend_of(group)) && !group.problem.contains("layout_a");
}

/// The times of one size in a recording; nothing of a configuration that failed or that the recording has no time of.
std::vector<Timed> times_of(const recording::Recording& recording, const database::ResultGroup& group,
                            const database::Sizes& sizes, const database::TunedResult& result) {
  const Backend backend = backend_of(group);
  const bool by_parameters = is_of_parameters(group);
  std::vector<Timed> times;
  for (const recording::RecordedTrial& trial : recording.trials) {
    const auto* measurement = std::get_if<Measurement>(&trial.outcome);
    if (measurement == nullptr) continue;
    Timed timed{{trial.settings, measurement->build.artifact_hash, {}}, {}, measurement->timing.median, {}};
    if (!measurement->build.key.empty())
      timed.configuration.store_path = measurement->build.key + "/" + traits_of(backend).artifact;
    if (by_parameters) {
      database::ResultKey of_trial;
      database::set_problem(of_trial, {}, {}, timed.configuration.params);
      if (of_trial.sizes != sizes) continue;
    }
    put_in_order(timed.configuration.params, result.params);
    timed.key = to_text(timed.configuration.params);
    const auto is_this = [&](const Finalist& finalist) {
      return finalist.entrant.is(trial.mesh_idx) && !finalist.failure && finished(finalist);
    };
    if (recording.finals) {
      const auto finalist = std::ranges::find_if(recording.finals->finalists, is_this);
      if (finalist != recording.finals->finalists.end()) timed.finals = median_seconds(*finalist);
    }
    times.push_back(std::move(timed));
  }
  return times;
}

const Timed& best_of(const std::vector<Timed>& times) {
  return *std::ranges::min_element(times, [](const Timed& a, const Timed& b) {
    if (a.finals.has_value() != b.finals.has_value()) return a.finals.has_value();
    return a.finals ? *a.finals < *b.finals : a.sweep < b.sweep;
  });
}

class TableMaker {
 public:
  TableMaker(const database::ResultGroup& group, const std::vector<recording::Recording>& recordings)
      : group_(&group), recordings_(&recordings) {}

  void add(const database::Sizes& sizes, const database::TunedResult& result, double weight) {
    const std::vector<Timed> times = find_times(sizes, result);
    if (times.empty()) {
      found_.without.push_back(sizes);
      return;
    }
    found_.table.sizes.push_back(sizes);
    found_.table.weights.push_back(weight);
    std::vector<double>& row =
        found_.table.of.emplace_back(found_.table.configurations.size(), database::kUnknownSlowdown);
    const Timed& best = best_of(times);
    std::vector<database::Configuration>& all = found_.timed.emplace_back();
    for (const Timed& timed : times) {
      all.push_back(timed.configuration);
      const std::size_t place = place_of(timed);
      if (place == row.size()) row.push_back(database::kUnknownSlowdown);
      const double slowdown = timed.finals && best.finals ? *timed.finals / *best.finals : timed.sweep / best.sweep;
      row[place] = std::max(1.0, slowdown);
    }
  }

  RecordedSlowdowns take() {
    for (std::vector<double>& row : found_.table.of)
      row.resize(found_.table.configurations.size(), database::kUnknownSlowdown);
    for (const auto& [file, sizes] : of_other_code_)
      found_.notes.push_back(line_with_escapes(
          fmt::format("{}: what was timed of {}{} is other code than that of the database, and is left out", file,
                      sizes.front(), sizes.size() > 1 ? fmt::format(" and {} more", sizes.size() - 1) : "")));
    return std::move(found_);
  }

 private:
  std::vector<Timed> find_times(const database::Sizes& sizes, const database::TunedResult& result) {
    const bool any_problem = is_of_parameters(*group_);
    const std::string problem = any_problem ? "" : recorded_problem(*group_, sizes);
    for (const recording::Recording& recording : *recordings_) {
      const bool same_device = recording.device.name.empty() || recording.device.name == group_->device.name;
      const bool same_problem = any_problem || recording.problem == problem;
      if (recording.kernel != group_->kernel || !same_problem || !same_device) continue;
      std::vector<Timed> times = times_of(recording, *group_, sizes, result);
      if (is_other_code(times, result)) {
        of_other_code_[recording.file].push_back(database::to_text(sizes));
        continue;
      }
      if (!times.empty()) return times;
    }
    return {};
  }

  static bool is_other_code(const std::vector<Timed>& times, const database::TunedResult& result) {
    const auto same = std::ranges::find(times, to_text(result.params), &Timed::key);
    return same != times.end() && !result.artifact_hash.empty() &&
           same->configuration.artifact_hash != result.artifact_hash;
  }

  std::size_t place_of(const Timed& timed) {
    const auto [known, is_new] = places_.try_emplace(timed.key, places_.size());
    if (is_new) found_.table.configurations.push_back(timed.configuration);
    database::Configuration& configuration = found_.table.configurations[known->second];
    if (configuration.artifact_hash != timed.configuration.artifact_hash) {
      configuration.artifact_hash.clear();
      configuration.store_path.clear();
    }
    return known->second;
  }

  const database::ResultGroup* group_;
  const std::vector<recording::Recording>* recordings_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::vector<std::string>> of_other_code_;  ///< sizes, by recording
  RecordedSlowdowns found_;
};

}  // namespace

RecordedSlowdowns read_slowdowns(const database::Database& database, const database::ResultGroup& group,
                                 const std::vector<std::filesystem::path>& runs,
                                 const std::map<database::Sizes, double>& weights) {
  std::vector<recording::Recording> recordings;
  for (const std::filesystem::path& run : runs)
    for (recording::Recording& recording : recording::read_recordings(run)) recordings.push_back(std::move(recording));
  TableMaker maker(group, recordings);
  for (const auto& [key, result] : database.results) {
    if (key.group != group) continue;
    const auto weight = weights.find(key.sizes);
    maker.add(key.sizes, result, weight != weights.end() ? weight->second : 1);
  }
  return maker.take();
}

void name_binaries(database::SizeRule& rule, const RecordedSlowdowns& recorded) {
  for (std::size_t size = 0; size < recorded.table.sizes.size(); ++size) {
    std::size_t& use = rule.table.at(recorded.table.sizes[size]);
    const std::string params = to_text(rule.configurations[use].params);
    const auto same_params = [&](const database::Configuration& each) { return to_text(each.params) == params; };
    const auto own = std::ranges::find_if(recorded.timed[size], same_params);
    if (own == recorded.timed[size].end() || own->artifact_hash == rule.configurations[use].artifact_hash) continue;
    const auto is_own = [&](const database::Configuration& each) {
      return same_params(each) && each.artifact_hash == own->artifact_hash;
    };
    use = static_cast<std::size_t>(std::ranges::find_if(rule.configurations, is_own) - rule.configurations.begin());
    if (use == rule.configurations.size()) rule.configurations.push_back(*own);
  }
}

}  // namespace tune::commands

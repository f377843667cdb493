#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/landscape.h"
#include "bench/search_bench.h"
#include "config/reader/device_file.h"
#include "config/reader/load.h"
#include "model/cost/cost_model.h"
#include "model/statistics/stats.h"

namespace tune::bench {
namespace {

/// The words of `8192x8192x512 bf16 bf16 f32 row col row`: sizes, types of A, B and C, layouts.
config::LoadRules options_of(const recording::Recording& recording, const Device& device) {
  config::LoadRules options;
  std::vector<std::string> words;
  std::string word;
  for (const char letter : recording.problem + " ") {
    if (letter != ' ') {
      word += letter;
      continue;
    }
    words.push_back(std::exchange(word, {}));
  }
  long long m = 0, n = 0, k = 0;
  if (std::sscanf(words.front().c_str(), "%lldx%lldx%lld", &m, &n, &k) == 3) {
    options.m = m;
    options.n = n;
    options.k = k;
    constexpr const char* kTypes[] = {"a", "b", "c"};
    for (std::size_t i = 0; i < 3 && i + 1 < words.size(); ++i)
      options.problem.push_back(fmt::format("{}={}", kTypes[i], words[i + 1]));
  }
  options.file_must_exist = false;
  options.measured_here = false;
  options.present = [](Backend) { return true; };
  options.probe = [device](Backend) { return device; };
  return options;
}

/// A recording with the plan that it is of.
struct Subject {
  std::unique_ptr<Landscape> landscape;
  config::Loaded loaded;
  std::optional<CostModel> model;
  std::vector<std::optional<double>> predicted;  ///< per spec; empty: there is no model
  std::vector<search::Point> first;              ///< the default, if it was recorded
  double rank_correlation = 0;
  std::vector<Course> with, without;
};

class Models {
 public:
  explicit Models(const SearchBenchOptions& options)
      : options_(options), choice_(search::parse_strategy(options.strategies.front())) {
    for (auto& landscape : landscapes_of(options.recordings)) add(std::move(landscape));
  }

  void run() {
    in_threads(options_.jobs, subjects_.size(), [&](std::size_t i) { follow_seeds(*subjects_[i]); });
  }

  std::string text() const {
    std::string out = fmt::format(
        "{} recordings, {} seeds: share of the best spec after so many specs, in the "
        "geometric mean / in the worst recording\n\n{:<10}",
        subjects_.size(), options_.seeds, "specs");
    for (const std::int64_t budget : options_.budgets) out += fmt::format("  {:>11}", budget);
    out += '\n' + row("no model", &Subject::without) + row("model", &Subject::with);
    double correlation = 0;
    std::size_t used = 0;
    for (const auto& subject : subjects_) {
      correlation += subject->rank_correlation;
      used += subject->predicted.empty() ? 0U : 1U;
    }
    out += fmt::format("\nmodels: {}; rank correlation of prediction and time {:.2f}\n", used,
                       correlation / static_cast<double>(std::max<std::size_t>(used, 1)));
    return out;
  }

 private:
  void follow_seeds(Subject& subject) const {
    const auto course = [&](std::uint64_t seed, const search::Prior* prior) {
      return follow(*subject.landscape, choice_, seed, options_.budgets, subject.first, prior, options_.ahead);
    };
    for (std::uint64_t seed = options_.seed; seed < options_.seed + static_cast<std::uint64_t>(options_.seeds);
         ++seed) {
      const auto prior = prior_of(subject, seed);
      subject.with.push_back(course(seed, prior.get()));
      subject.without.push_back(course(seed, nullptr));
    }
  }

  /// What is shuffled is so in another way for each seed.
  std::unique_ptr<search::Prior> prior_of(const Subject& subject, std::uint64_t seed) const {
    if (subject.predicted.empty()) return nullptr;
    std::vector<std::optional<double>> costs = subject.predicted;
    Random random(seed + 1);
    if (options_.wrong == "shuffled") shuffle(costs, random);
    const ValidSpecs& specs = subject.landscape->specs();
    return std::make_unique<search::Prior>(specs, [costs = std::move(costs), &specs](const search::Point& point) {
      return costs[static_cast<std::size_t>(*specs.index_of(point))];
    });
  }

  Device device_of(const recording::Recording& recording) const {
    return options_.device.empty() ? recording.device : config::read_device(options_.device);
  }

  void add(std::unique_ptr<Landscape> landscape) {
    auto subject = std::make_unique<Subject>();
    subject->landscape = std::move(landscape);
    const Landscape& here = *subject->landscape;
    const std::filesystem::path yamls[] = {options_.yaml};
    subject->loaded = config::load(yamls, options_of(here.recording(), device_of(here.recording())));
    const Plan& plan = subject->loaded.plan;
    subject->model = CostModel::of(plan, device_of(here.recording()));
    for (std::int64_t i = 0; i < here.specs().size() && !plan.default_settings.empty(); ++i)
      if (const Spec spec = here.specs().spec(i); holds(spec, plan.default_settings)) {
        subject->first.push_back(here.specs().at(i));
        break;
      }
    if (subject->model) predict(*subject);
    subjects_.push_back(std::move(subject));
  }

  void predict(Subject& subject) const {
    const ValidSpecs& specs = subject.landscape->specs();
    std::vector<double> predicted, measured;
    for (std::int64_t i = 0; i < specs.size(); ++i) {
      const auto prediction = subject.model->predict({-1, specs.spec(i).params});
      subject.predicted.push_back(prediction ? std::optional(prediction->seconds) : std::nullopt);
      const auto cost = subject.landscape->cost(specs.at(i));
      if (!prediction || !cost) continue;
      predicted.push_back(prediction->seconds);
      measured.push_back(*cost);
    }
    subject.rank_correlation = rank_correlation(predicted, measured);
    if (options_.wrong == "reversed")
      for (auto& cost : subject.predicted)
        if (cost) cost = 1 / *cost;
  }

  std::string row(const char* label, std::vector<Course> Subject::*courses) const {
    std::string out = fmt::format("{:<10}", label);
    for (std::size_t budget = 0; budget < options_.budgets.size(); ++budget) {
      double logs = 0, worst = 1;
      for (const auto& subject : subjects_) {
        double mean = 0;
        for (const Course& course : (*subject).*courses) mean += course.shares[budget] / options_.seeds;
        logs += std::log(std::max(mean, 1e-3));
        worst = std::min(worst, mean);
      }
      out += fmt::format("  {:.3f}/{:.3f}", std::exp(logs / static_cast<double>(subjects_.size())), worst);
    }
    return out + '\n';
  }

  const SearchBenchOptions& options_;
  search::StrategyChoice choice_;
  std::vector<std::unique_ptr<Subject>> subjects_;
};

}  // namespace

std::string cost_models(const SearchBenchOptions& options) {
  Models models(options);
  models.run();
  return models.text();
}

}  // namespace tune::bench

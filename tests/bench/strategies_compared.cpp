#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/landscape.h"
#include "bench/search_bench.h"
#include "model/statistics/stats.h"

namespace tune::bench {
namespace {

constexpr const char* kUniform = "random:latin=0";
constexpr int kResamples = 2000;

double mean_share(const std::vector<Course>& courses, std::size_t budget) {
  double sum = 0;
  for (const Course& course : courses) sum += course.shares[budget];
  return sum / static_cast<double>(courses.size());
}

/// 95 % bootstrap interval of the difference of two means.
Interval difference(const std::vector<Course>& courses, const std::vector<Course>& others, std::size_t budget) {
  Random random(budget + 1);
  const auto resampled = [&](const std::vector<Course>& from) {
    double sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) sum += from[random.below(from.size())].shares[budget];
    return sum / static_cast<double>(from.size());
  };
  std::vector<double> differences;
  for (int i = 0; i < kResamples; ++i) differences.push_back(resampled(courses) - resampled(others));
  std::ranges::sort(differences);
  return {differences[kResamples / 40], differences[kResamples - 1 - kResamples / 40]};
}

// The median over the seeds, of which some may never have come so near.
std::string reached(const std::vector<Course>& courses, std::optional<int> Course::*when) {
  std::vector<int> counts;
  for (const Course& course : courses) counts.push_back((course.*when).value_or(std::numeric_limits<int>::max()));
  std::ranges::sort(counts);
  const int median = counts[counts.size() / 2];
  return median == std::numeric_limits<int>::max() ? "-" : std::to_string(median);
}

class Bench {
 public:
  explicit Bench(const SearchBenchOptions& options) : options_(options), budgets_(options.budgets) {
    landscapes_ = landscapes_of(options.recordings);
    for (const std::string& text : options.strategies) choices_.push_back(search::parse_strategy(text));
    choices_.push_back(search::parse_strategy(kUniform));
    courses_.resize(landscapes_.size() * choices_.size());
    for (auto& courses : courses_) courses.resize(static_cast<std::size_t>(options.seeds));
  }

  void run() {
    in_threads(options_.jobs, courses_.size() * static_cast<std::size_t>(options_.seeds),
               [&](std::size_t task) { follow_task(task); });
  }

  std::string text() const {
    std::string out = fmt::format(
        "{} seeds; mean share of the optimum after {} specs, its difference to uniform random "
        "(95 %), specs until 95 and 99 % of\nthe optimum (median; -: not within {})\n",
        options_.seeds, fmt::join(budgets_, " / "), budgets_.back());
    for (std::size_t l = 0; l < landscapes_.size(); ++l) {
      out += fmt::format("\n{}\n", landscapes_[l]->heading());
      for (std::size_t c = 0; c < choices_.size(); ++c) out += row(l, c);
    }
    out += fmt::format(
        "\nall: geometric mean over recordings and budgets, lowest difference to uniform random (lower "
        "end of 95 %), microseconds per spec\n");
    for (std::size_t c = 0; c < choices_.size(); ++c) out += summary(c);
    return out;
  }

 private:
  const std::vector<Course>& courses(std::size_t landscape, std::size_t choice) const {
    return courses_[landscape * choices_.size() + choice];
  }
  std::string label(std::size_t choice) const {
    return choice + 1 == choices_.size() ? "uniform random" : options_.strategies[choice];
  }

  void follow_task(std::size_t task) {
    const auto seeds = static_cast<std::size_t>(options_.seeds);
    const std::size_t pair = task / seeds, seed = task % seeds;
    courses_[pair][seed] =
        follow(*landscapes_[pair / choices_.size()], choices_[pair % choices_.size()], options_.seed + seed, budgets_);
  }

  Interval over_random(std::size_t landscape, std::size_t choice, std::size_t budget) const {
    return difference(courses(landscape, choice), courses(landscape, choices_.size() - 1), budget);
  }

  std::string row(std::size_t landscape, std::size_t choice) const {
    const auto& found = courses(landscape, choice);
    std::string shares, differences;
    for (std::size_t b = 0; b < budgets_.size(); ++b) {
      shares += fmt::format("{}{:.3f}", b == 0 ? "" : " / ", mean_share(found, b));
      const Interval interval = over_random(landscape, choice, b);
      differences += fmt::format("  {:+.3f}..{:+.3f}", interval.low, interval.high);
    }
    if (choice + 1 == choices_.size()) differences.clear();
    return fmt::format("  {:<24} {}  {:>5} {:>5}{}\n", label(choice), shares, reached(found, &Course::near),
                       reached(found, &Course::nearer), differences);
  }

  std::string summary(std::size_t choice) const {
    double logs = 0, seconds = 0, asked = 0, lowest = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < landscapes_.size(); ++l) {
      for (std::size_t b = 0; b < budgets_.size(); ++b) {
        logs += std::log(mean_share(courses(l, choice), b));
        lowest = std::min(lowest, over_random(l, choice, b).low);
      }
      for (const Course& course : courses(l, choice)) {
        seconds += course.seconds;
        asked += course.asked;
      }
    }
    const double mean = std::exp(logs / static_cast<double>(landscapes_.size() * budgets_.size()));
    const bool is_random = choice + 1 == choices_.size();
    return fmt::format("  {:<24} {:.4f}  {:>7}  {:>8.1f}\n", label(choice), mean,
                       is_random ? "" : fmt::format("{:+.3f}", lowest), seconds * 1e6 / std::max(asked, 1.0));
  }

  const SearchBenchOptions& options_;
  const std::vector<std::int64_t>& budgets_;
  std::vector<std::unique_ptr<Landscape>> landscapes_;
  std::vector<search::StrategyChoice> choices_;  ///< the last one is uniform random
  std::vector<std::vector<Course>> courses_;     ///< by landscape and choice: one per seed
};

}  // namespace

std::string strategies_compared(const SearchBenchOptions& options) {
  Bench bench(options);
  bench.run();
  return bench.text();
}

}  // namespace tune::bench

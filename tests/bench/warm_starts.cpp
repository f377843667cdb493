#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/landscape.h"
#include "bench/search_bench.h"
#include "model/values/error.h"
#include "report/fitted_table.h"

namespace tune::bench {
namespace {

/// What one search came to on average over the seeds.
struct MeanCourse {
  double until_near = 0, until_nearer = 0;  ///< specs; a search that never came there counts with its whole budget
  std::vector<double> shares;

  void add(const Course& course, double weight) {
    until_near += weight * course.near.value_or(course.asked);
    until_nearer += weight * course.nearer.value_or(course.asked);
    shares.resize(course.shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += weight * course.shares[i];
  }
};

/// The same problems tuned one after the other, each from nothing, or each from the winners of those before it.
class WarmStarts {
 public:
  explicit WarmStarts(const SearchBenchOptions& options)
      : options_(options), budgets_(options.budgets), landscapes_(landscapes_of(options.recordings)) {
    if (landscapes_.size() < 2)
      throw Error(ExitCode::bad_input,
                  "--warm-start compares problems that are tuned one after the other; give "
                  "recordings of several, or a journal of --shapes");
  }

  void run(const search::StrategyChoice& choice) {
    cold_.assign(landscapes_.size(), {});
    warm_.assign(landscapes_.size(), {});
    for (int seed = 0; seed < options_.seeds; ++seed)
      follow_all(choice, options_.seed + static_cast<std::uint64_t>(seed));
  }

  std::string text() const {
    const auto column = [&](const char* title, const auto& cell, std::string total) {
      report::GridColumn made;
      made.title = title;
      for (std::size_t i = 1; i < landscapes_.size(); ++i) made.cells.push_back(cell(i));
      made.cells.push_back(std::move(total));
      return made;
    };
    const auto specs = [&](const std::vector<MeanCourse>& courses, double MeanCourse::*count, const char* title) {
      return column(
          title, [&](std::size_t i) { return fmt::format("{:.1f}", courses[i].*count); },
          fmt::format("{:.1f}", sum(courses, count)));
    };
    const auto share = [&](const std::vector<MeanCourse>& courses, const char* title) {
      return column(
          title, [&](std::size_t i) { return shares_text(courses[i]); }, shares_text(mean(courses)));
    };
    const report::GridColumn columns[] = {
        column(
            "problem", [&](std::size_t i) { return landscapes_[i]->problem(); }, "all"),
        specs(cold_, &MeanCourse::until_near, "95 % cold"),
        specs(warm_, &MeanCourse::until_near, "warm"),
        specs(cold_, &MeanCourse::until_nearer, "99 % cold"),
        specs(warm_, &MeanCourse::until_nearer, "warm"),
        share(cold_, "share cold"),
        share(warm_, "warm")};
    return report::grid_text(columns) +
           fmt::format("warm over cold: {:.2f} of the specs until 95 %, {:.2f} until 99 %\n",
                       sum(warm_, &MeanCourse::until_near) / sum(cold_, &MeanCourse::until_near),
                       sum(warm_, &MeanCourse::until_nearer) / sum(cold_, &MeanCourse::until_nearer));
  }

  std::string heading() const {
    return fmt::format(
        "{} seeds; means of the specs until 95 and 99 % of the optimum, and of the share of the optimum after {} "
        "specs\n",
        options_.seeds, fmt::join(budgets_, " / "));
  }

 private:
  // The winner of a problem is that of the warm search, as in a tuning of all.
  void follow_all(const search::StrategyChoice& choice, std::uint64_t seed) {
    std::vector<tuning::TunedShape> tuned;
    const double weight = 1.0 / options_.seeds;
    for (std::size_t i = 0; i < landscapes_.size(); ++i) {
      const Landscape& landscape = *landscapes_[i];
      std::vector<search::Point> first;
      for (const Spec& winner : tuning::nearest_winners(landscape.sizes(), tuned))
        if (const auto point = landscape.find(winner)) first.push_back(*point);
      cold_[i].add(follow(landscape, choice, seed, budgets_), weight);
      const Course course = follow(landscape, choice, seed, budgets_, first);
      warm_[i].add(course, weight);
      if (course.best)
        tuned.push_back({landscape.problem(), landscape.sizes(), landscape.specs().space().spec(*course.best)});
    }
  }

  // The first problem has nothing to begin with.
  static double sum(const std::vector<MeanCourse>& courses, double MeanCourse::*count) {
    double total = 0;
    for (std::size_t i = 1; i < courses.size(); ++i) total += courses[i].*count;
    return total;
  }

  static MeanCourse mean(const std::vector<MeanCourse>& courses) {
    MeanCourse all;
    all.shares.resize(courses.front().shares.size());
    for (std::size_t i = 1; i < courses.size(); ++i)
      for (std::size_t b = 0; b < all.shares.size(); ++b)
        all.shares[b] += courses[i].shares[b] / static_cast<double>(courses.size() - 1);
    return all;
  }

  static std::string shares_text(const MeanCourse& course) {
    std::string text;
    for (const double share : course.shares) text += fmt::format("{}{:.3f}", text.empty() ? "" : " / ", share);
    return text;
  }

  const SearchBenchOptions& options_;
  const std::vector<std::int64_t>& budgets_;
  std::vector<std::unique_ptr<Landscape>> landscapes_;
  std::vector<MeanCourse> cold_, warm_;  ///< by landscape
};

}  // namespace

std::string warm_starts(const SearchBenchOptions& options) {
  WarmStarts bench(options);
  std::string text = bench.heading();
  for (const std::string& strategy : options.strategies) {
    bench.run(search::parse_strategy(strategy));
    text += "\n" + strategy + "\n" + bench.text();
  }
  return text;
}

}  // namespace tune::bench

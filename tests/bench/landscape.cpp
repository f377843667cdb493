#include "bench/landscape.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <deque>
#include <thread>

#include "model/statistics/objective.h"
#include "model/values/error.h"
#include "platform/files/file.h"
#include "recording/recorded_space.h"

namespace tune::bench {
namespace {

constexpr double kNear = 0.95, kNearer = 0.99;

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Landscape::Landscape(recording::Recording recording, std::string name)
    : name_(std::move(name)),
      recording_(std::move(recording)),
      space_(recording::space_of(recording_)),
      points_(recording::points_of(recording_, space_)),
      specs_(space_, points_),
      costs_(points_.size()) {
  const std::string& objective = recording_.objectives.front();
  maximize_ = objective != "time" && more_is_better(objective);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto* measurement = std::get_if<Measurement>(&recording_.trials[i].outcome);
    if (measurement == nullptr) continue;
    const auto figure = measurement->metrics.find(objective);
    const double value = objective == "time"                    ? measurement->timing.median
                         : figure != measurement->metrics.end() ? figure->second
                                                                : std::nan("");
    if (!std::isfinite(value)) continue;
    costs_[static_cast<std::size_t>(*specs_.index_of(points_[i]))] = maximize_ ? -value : value;
  }
  for (const auto& cost : costs_) {
    if (!cost) continue;
    ++valid_;
    if (!optimum_ || *cost < *optimum_) optimum_ = *cost;
  }
  if (!optimum_ || *optimum_ == 0)
    throw Error(ExitCode::bad_input, recording_.file + ": no spec of the recording has a figure for " + objective);
}

std::optional<double> Landscape::cost(const search::Point& point) const {
  return costs_[static_cast<std::size_t>(*specs_.index_of(point))];
}

std::string Landscape::heading() const {
  return fmt::format("{}: {} specs, {} of them failed; best {} {:.6g}", name_, specs_.size(), specs_.size() - valid_,
                     recording_.objectives.front(), std::fabs(*optimum_));
}

// As problem_size_text writes them, 4096x4096x64 or m=4096 n=64, or a shape: M=4096 N=64.
tuning::LogSizes Landscape::sizes() const {
  tuning::LogSizes sizes;
  const std::string& text = recording_.problem;
  std::string number;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool digit = i < text.size() && text[i] >= '0' && text[i] <= '9';
    const bool inside = !number.empty() || i == 0 || text[i - 1] == 'x' || text[i - 1] == '=';
    if (digit && inside) {
      number += text[i];
      continue;
    }
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    if (value > 0) sizes.emplace_back(std::to_string(sizes.size()), std::log(value));
    number.clear();
  }
  return sizes;
}

std::optional<search::Point> Landscape::find(const Spec& spec) const {
  Spec here{-1, spec.params};
  for (const Parameter& parameter : recording_.parameters)
    for (Setting& setting : here.params)
      if (setting.name == parameter.name && parameter.values.size() == 1) setting.value = parameter.values.front();
  const auto point = space_.point(here);
  return point && specs_.contains(*point) ? point : std::nullopt;
}

std::vector<std::unique_ptr<Landscape>> landscapes_of(std::span<const std::filesystem::path> files) {
  std::vector<std::unique_ptr<Landscape>> landscapes;
  const std::vector<std::string> names = platform::distinct_names(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<recording::Recording> recordings = recording::read_recordings(files[i]);
    const bool several = recordings.size() > 1;
    for (recording::Recording& recording : recordings) {
      const std::string name = names[i] + (several ? " " + recording.problem : "");
      landscapes.push_back(std::make_unique<Landscape>(std::move(recording), name));
    }
  }
  return landscapes;
}

void in_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  const unsigned wanted = threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < std::max(wanted, 1U); ++i) all.emplace_back(work);
}

Course follow(const Landscape& landscape, const search::StrategyChoice& choice, std::uint64_t seed,
              const std::vector<std::int64_t>& budgets, std::span<const search::Point> first,
              const search::Prior* prior, std::size_t ahead) {
  Course course;
  const auto search = search::make_search(choice, landscape.specs(), seed, prior);
  double best = 0;
  std::size_t next = 0;
  std::deque<search::Point> untold;
  const auto ask = [&]() -> std::optional<search::Point> {
    while (next < first.size() && (course.asked > 0 || prior == nullptr))
      if (search->claim(first[next++])) return first[next - 1];
    return search->ask();
  };
  for (const std::int64_t budget : budgets) {
    while (course.asked < budget) {
      const double begin = thread_seconds();
      const auto point = ask();
      course.seconds += thread_seconds() - begin;
      if (!point) break;
      ++course.asked;
      const auto cost = landscape.cost(*point);
      if (cost && (!course.best || landscape.share(*cost) > best)) {
        best = landscape.share(*cost);
        course.best = point;
      }
      if (!course.near && best >= kNear) course.near = course.asked;
      if (!course.nearer && best >= kNearer) course.nearer = course.asked;
      untold.push_back(*point);
      if (untold.size() < ahead) continue;
      const double told = thread_seconds();
      search->tell(untold.front(), landscape.cost(untold.front()));
      course.seconds += thread_seconds() - told;
      untold.pop_front();
    }
    course.shares.push_back(best);
  }
  return course;
}

}  // namespace tune::bench

#include "commands/tune/correctness_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tune::commands {
namespace {

bool is_wrong(const Trial& trial) {
  const Failure* failure = trial.failure();
  return failure != nullptr && failure->stage == Stage::check && failure->cause == Cause::reported;
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string verdicts(std::int64_t right, std::int64_t wrong) { return fmt::format("{} right, {} wrong", right, wrong); }

}  // namespace

void CorrectnessSummary::add(const std::string& shape, std::span<const Trial> trials) {
  std::int64_t right = 0, wrong = 0;
  for (const Trial& trial : trials) {
    const Measurement* measurement = trial.measurement();
    if (measurement != nullptr && measurement->checked) ++right;
    if (is_wrong(trial)) ++wrong;
  }
  right_ += right;
  wrong_ += wrong;
  missing_ += std::ssize(trials) - right - wrong;
  if (shape.empty()) return;
  has_shapes_ = true;
  if (right + wrong == 0) missing_shapes_.push_back(shape);
  if (right + wrong > 0) ++(wrong > 0 ? wrong_shapes_ : right_shapes_);
}

std::string CorrectnessSummary::text() const {
  const std::string specs = fmt::format("{}: {}", counted(right_ + wrong_, "spec"), verdicts(right_, wrong_));
  const std::string lost = missing_ > 0 ? fmt::format("; not compared: {}", counted(missing_, "spec")) : "";
  if (!has_shapes_) return fmt::format("compared with the reference: {}{}\n", specs, lost);
  const std::int64_t shapes = right_shapes_ + wrong_shapes_;
  const std::string missing = missing_shapes_.empty()
                                  ? ""
                                  : fmt::format("; missing: {} ({})", counted(std::ssize(missing_shapes_), "size"),
                                                fmt::join(missing_shapes_, "; "));
  return fmt::format("compared with the reference: {} of {}: {}{}; {}{}\n", shapes,
                     counted(shapes + std::ssize(missing_shapes_), "size"), verdicts(right_shapes_, wrong_shapes_),
                     missing, specs, lost);
}

}  // namespace tune::commands

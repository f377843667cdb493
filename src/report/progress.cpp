#include "report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <utility>

#include "report/text.h"

namespace tune::report {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kRedrawInterval{100};
/// A rate from less than this says more about start-up than about what is to come.
constexpr Seconds kMinElapsed{1};
constexpr std::int64_t kMinDone = 3;
constexpr const char* kClearToEnd = "\x1b[K";

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::max(seconds, 0.0) + 0.5);
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

std::string activity_text(const Activity& activity) {
  std::vector<std::string> parts;
  if (activity.building > 0) parts.push_back(fmt::format("building {}", activity.building));
  if (!activity.measuring.empty()) parts.push_back(fmt::format("measuring {}", fmt::join(activity.measuring, " ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Progress::Progress(std::ostream& out, ProgressStyle style, std::optional<std::int64_t> total, Time start,
                   std::optional<Time> deadline)
    : out_(out), style_(style), total_(total), start_(start), deadline_(deadline), last_output_(start) {}

void Progress::tell(const Trial& trial, bool best, Time now) {
  ++done_;
  if (trial.recorded) ++recorded_;
  if (trial.failure()) ++failed_;
  const Measurement* measurement = trial.measurement();
  if (best && measurement) best_ = {measurement->timing.median, trial.spec.mesh_idx};
  // A resumed run answers thousands of recorded specs in a moment; a new best among them is not news.
  if (best && measurement && !trial.recorded && !style_.terminal) {
    print_plain(now);
  } else {
    tick(now);
  }
}

void Progress::set_activity(Activity activity, Time now) {
  activity_ = std::move(activity);
  tick(now);
}

void Progress::set_stage(std::string stage, Time now) {
  stage_ = std::move(stage);
  tick(now);
}

void Progress::tick(Time now) {
  if (finished_) return;
  if (style_.terminal && now - last_output_ >= kRedrawInterval) {
    draw(now);
  } else if (!style_.terminal && now - last_output_ >= style_.plain_interval) {
    print_plain(now);
  }
}

void Progress::say(std::string_view line, Time now) {
  if (style_.quiet || finished_) return;
  out_ << (style_.terminal ? "\r" : "") << printable(line, line.size()) << (style_.terminal ? kClearToEnd : "") << '\n'
       << std::flush;
  if (style_.terminal) draw(now);
}

void Progress::finish(Time now) {
  if (finished_) return;
  finished_ = true;
  if (style_.terminal && !style_.quiet) out_ << '\r' << kClearToEnd;
  print_plain(now);
}

std::optional<double> Progress::rate(Time now) const {
  const std::int64_t done_here = done_ - recorded_;
  const Seconds elapsed = now - start_;
  if (done_here < kMinDone || elapsed < kMinElapsed || !stage_.empty()) return std::nullopt;
  return static_cast<double>(done_here) / elapsed.count();
}

std::string Progress::eta(Time now) const {
  std::optional<double> seconds;
  const std::optional<double> per_second = rate(now);
  if (total_ && per_second && done_ < *total_) seconds = static_cast<double>(*total_ - done_) / *per_second;
  if (deadline_) {
    const double left = Seconds(*deadline_ - now).count();
    seconds = std::min(seconds.value_or(left), left);
  }
  return seconds ? "ETA " + clock_text(*seconds) : "";
}

std::string Progress::line(Time now) const {
  std::vector<std::string> parts;
  parts.push_back(total_ ? fmt::format("{}/{}", done_, *total_) : fmt::format("{}", done_));
  if (const std::optional<double> per_second = rate(now)) parts.push_back(fmt::format("{:.1f}/s", *per_second));
  if (best_) parts.push_back(fmt::format("best {:.6f} ms ({})", best_->first * 1e3, best_->second));
  if (failed_ > 0) parts.push_back(fmt::format("{} failed", failed_));
  if (!finished_) {
    parts.push_back(stage_.empty() ? activity_text(activity_) : stage_);
    parts.push_back(stage_.empty() ? eta(now) : "");
  }
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, " | "));
}

void Progress::draw(Time now) {
  last_output_ = now;
  if (style_.quiet) return;
  // The last column stays free: terminals differ in whether a character there wraps.
  const auto room = static_cast<std::size_t>(std::max(style_.width - 1, 0));
  out_ << '\r' << line(now).substr(0, room) << kClearToEnd << std::flush;
}

void Progress::print_plain(Time now) {
  last_output_ = now;
  if (!style_.quiet) out_ << line(now) << std::endl;
}

}  // namespace tune::report

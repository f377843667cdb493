#include "report/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "report/shown_text.h"

namespace tune::report {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::chrono::seconds kPlainInterval{10};
/// A rate from less than this says more about start-up than about what is to come.
constexpr Seconds kMinElapsed{1};
constexpr std::int64_t kMinDone = 3;
constexpr std::size_t kMostNamed = 8;  // specs that are measured at a time
constexpr const char* kClearLine = "\x1b[K";
constexpr const char* kUp = "\x1b[A";

std::string activity_text(const Activity& activity) {
  std::vector<std::string> parts;
  if (activity.building > 0) parts.push_back(fmt::format("building {}", activity.building));
  const std::size_t measuring = activity.measuring.size();
  if (measuring > kMostNamed)
    parts.push_back(fmt::format("measuring {} specs", measuring));
  else if (measuring > 0)
    parts.push_back(fmt::format("measuring {}", fmt::join(activity.measuring, " ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string finals_text(const FinalsState& finals) {
  if (finals.round == 0) return fmt::format("finals: loaded {} of {}", finals.active, finals.contenders);
  if (finals.contenders == 1) return fmt::format("finals: round {}", finals.round);
  return fmt::format("finals: round {}, {} of {} contenders left", finals.round, finals.active, finals.contenders);
}

std::string kind_of(const Failure& failure) {
  if (failure.cause == Cause::timed_out) return "timed out";
  if (failure.cause == Cause::crashed || failure.facts.signal != 0) return "crashed";
  return failure.is_wrong_result() ? "wrong result" : std::string(to_text(failure.stage));
}

std::string best_text(std::string_view figure, const Spec& spec) {
  return fmt::format("{} ({})", printable(figure), spec.mesh_idx);
}

std::string milliseconds_text(double seconds) { return four_digits(seconds * 1e3) + " ms"; }

double seconds_until(Progress::Time end, Progress::Time now) { return std::max(Seconds(end - now).count(), 0.0); }

/// As a share of all there may be.
double rounds_held(const FinalsState& finals) {
  return finals.round == 0 ? 0 : (finals.round - 1.0) / std::max(finals.most_rounds, 1);
}

/// Finals end when their time is up or when all rounds are held, if they do not end before. `told`: when they were so.
double left_of(const FinalsState& finals, Progress::Time told, Progress::Time now) {
  const double in_time = seconds_until(finals.end, now), held = rounds_held(finals);
  if (held == 0) return in_time;
  const Seconds all = Seconds(told - finals.begin) / held;
  return std::clamp((all - Seconds(now - finals.begin)).count(), 0.0, in_time);
}

}  // namespace

Progress::Progress(std::ostream& out, ProgressStyle style, std::optional<std::int64_t> total, Time start,
                   RunLimits limits)
    : out_(out),
      style_(std::move(style)),
      total_(total),
      start_(start),
      limits_(limits),
      last_output_(start),
      last_done_(start) {}

void Progress::tell(const Trial& trial, bool best, Time now, std::string_view figure) {
  ++done_;
  last_done_ = now;
  measured_seconds_ += trial.measure_seconds;
  if (trial.recorded) ++recorded_;
  if (const Failure* failure = trial.failure()) ++failed_[kind_of(*failure)];
  const Measurement* measurement = trial.measurement();
  // What takes less time than there is between two questions for the activity is seen here alone.
  if (measurement != nullptr && !trial.recorded && activity_.measuring.size() < 2)
    activity_.measuring = {trial.spec.mesh_idx};
  if (best && measurement != nullptr) {
    set_best(trial.spec, measurement->timing.typical(), figure);
    if (!trial.recorded) best_since_ = now;
  }
  tick(now);
}

void Progress::set_best(const Spec& spec, double seconds, std::string_view figure) {
  best_ = best_text(figure.empty() ? milliseconds_text(seconds) : figure, spec);
  best_settings_ = settings_text(spec, style_.varying);
  best_since_.reset();
}

void Progress::set_activity(Activity activity, Time now) {
  activity_ = std::move(activity);
  tick(now);
}

void Progress::set_finals(FinalsState finals, Time now) {
  finals_ = finals;
  finals_told_ = now;
  tick(now);
}

void Progress::tick(Time now) {
  if (finished_) return;
  if (style_.terminal && now - last_output_ >= kRedrawInterval) {
    draw(now);
  } else if (!style_.terminal && now - last_output_ >= kPlainInterval) {
    print_plain(now);
  }
}

void Progress::say(std::string_view line, Time now) {
  if (!style_.quiet && !finished_) print_above(lines_of(line), now);
}

void Progress::warn(std::string_view text, Time now) { print_above(lines_of("warning: " + std::string(text)), now); }

std::string Progress::lines_of(std::string_view text) const {
  std::string lines;
  const auto columns = static_cast<std::size_t>(style_.columns());
  for (const std::string& line : wrapped(printable(text, text.size()), columns, 2)) lines += line + "\n";
  return lines;
}

void Progress::print_above(const std::string& lines, Time now) {
  out_ << erased() + lines << std::flush;
  drawn_.clear();
  if (style_.terminal && !style_.quiet && !finished_) draw(now);
}

void Progress::finish(Time now) {
  if (finished_) return;
  finished_ = true;
  if (style_.quiet) return;
  Snapshot last = snapshot(now);
  last.rate.reset();
  last.seconds_left.reset();
  last.best_age.reset();
  last.best_of_sweep = false;
  last.running.clear();
  const std::string line = plain_line(last);
  out_ << erased() + (style_.terminal ? cut_to(line, static_cast<std::size_t>(style_.columns())) : line) + "\n"
       << std::flush;
}

Snapshot Progress::snapshot(Time now) const {
  Snapshot snapshot;
  snapshot.done = done_;
  snapshot.total = total_;
  snapshot.share = share(now);
  snapshot.rate = rate(now);
  snapshot.seconds_left = seconds_left(now);
  snapshot.best = best_;
  snapshot.best_settings = best_settings_;
  snapshot.best_of_sweep = finals_.has_value();
  if (best_since_ && !finals_) snapshot.best_age = Seconds(now - *best_since_).count();
  snapshot.failed = failed_;
  snapshot.running = finals_ ? finals_text(*finals_) : activity_text(activity_);
  return snapshot;
}

// A sweep ends when all is tried or when its time is up, whichever comes first.
double Progress::share(Time now) const {
  const auto share_of = [now](Time begin, Time end) {
    return end > begin ? Seconds(now - begin).count() / Seconds(end - begin).count() : 1.0;
  };
  if (finals_) return std::max(rounds_held(*finals_), share_of(finals_->begin, finals_->end));
  const double tried = total_ && *total_ > 0 ? static_cast<double>(done_) / static_cast<double>(*total_) : 0;
  return limits_.sweep ? std::max(tried, share_of(start_, *limits_.sweep)) : tried;
}

std::optional<double> Progress::rate(Time now) const {
  const std::int64_t done_here = done_ - recorded_;
  const Seconds elapsed = now - start_;
  if (done_here < kMinDone || elapsed < kMinElapsed || finals_) return std::nullopt;
  return static_cast<double>(done_here) / elapsed.count();
}

std::optional<double> Progress::sweep_left(Time now) const {
  std::optional<double> seconds;
  if (const auto per_second = rate(now); total_ && per_second) {
    // The next spec is as far on as the time since the last one says, but not done.
    const auto to_come = static_cast<double>(*total_ - done_), done_here = static_cast<double>(done_ - recorded_);
    const double at_last = to_come * Seconds(last_done_ - start_).count() / done_here;
    seconds = std::max({at_last - Seconds(now - last_done_).count(), (to_come - 1) / *per_second, 0.0});
  }
  if (!limits_.sweep) return seconds;
  const double left = seconds_until(*limits_.sweep, now);
  return std::min(seconds.value_or(left), left);
}

double Progress::finals_to_come(double sweep_left, Time now) const {
  if (!limits_.finals) return 0;
  if (done_ == 0) return limits_.finals->seconds_after(0);
  const double specs_to_come = sweep_left * rate(now).value_or(0);
  const double per_spec = measured_seconds_ / static_cast<double>(done_);
  return limits_.finals->seconds_after(measured_seconds_ + specs_to_come * per_spec);
}

std::optional<double> Progress::seconds_left(Time now) const {
  if (finals_) return left_of(*finals_, finals_told_, now);
  const auto sweep = sweep_left(now);
  if (!sweep) return std::nullopt;
  const double seconds = *sweep + finals_to_come(*sweep, now);
  return limits_.run ? std::min(seconds, seconds_until(*limits_.run, now)) : seconds;
}

// A terminal that has become narrower has broken the lines that were drawn on it. Line by line, because multiplexers
// may keep what is cleared down to the end of the screen for scrolling back.
std::string Progress::erased() const {
  if (drawn_.empty()) return "";
  const auto columns = static_cast<std::size_t>(std::max(style_.columns(), 1));
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>((width + columns - 1) / columns, 1);
  std::string text = std::string("\r") + kClearLine;
  for (std::size_t row = 1; row < rows; ++row) text += std::string(kUp) + kClearLine;
  return text;
}

void Progress::draw(Time now) {
  last_output_ = now;
  if (style_.quiet) return;
  // The last column stays free: terminals differ in whether a character there wraps.
  const auto room = static_cast<std::size_t>(std::max(style_.columns() - 1, 0));
  const std::string before = erased();
  drawn_.clear();
  for (const std::string& line : terminal_lines(snapshot(now), room, false)) drawn_.push_back(width_of(line));
  out_ << fmt::format("{}{}", before, fmt::join(terminal_lines(snapshot(now), room, style_.colors), "\n"))
       << std::flush;
}

void Progress::print_plain(Time now) {
  last_output_ = now;
  if (!style_.quiet) out_ << plain_line(snapshot(now)) << std::endl;
}

}  // namespace tune::report

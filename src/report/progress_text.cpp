#include "report/progress_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/shown_text.h"

namespace tune::report {
namespace {

constexpr const char* kGap = "  ";
constexpr std::size_t kLeastForBar = 60, kLongestBar = 30;  // columns; of the bar with its brackets
constexpr std::size_t kShortestText = 10;

/// A piece of a line.
struct Segment {
  std::string text;
  Style style = kPlainStyle;
};

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::max(seconds, 0.0) + 0.5);
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

std::string count_text(const Snapshot& snapshot) {
  return snapshot.total ? fmt::format("{}/{}", snapshot.done, *snapshot.total) : fmt::format("{}", snapshot.done);
}

std::string rate_text(const Snapshot& snapshot) {
  if (!snapshot.rate) return "";
  return *snapshot.rate >= 1 ? fmt::format("{:.1f}/s", *snapshot.rate) : fmt::format("{:.1f}/min", *snapshot.rate * 60);
}

std::string eta_text(const Snapshot& snapshot) {
  return snapshot.seconds_left ? "ETA " + clock_text(*snapshot.seconds_left) : "";
}

std::string age_text(const Snapshot& snapshot) {
  return snapshot.best_age ? fmt::format(", {} ago", clock_text(*snapshot.best_age)) : "";
}

std::string title_of_best(const Snapshot& snapshot) { return snapshot.best_of_sweep ? "best of the sweep " : "best "; }

std::string failed_text(const Snapshot& snapshot) {
  std::int64_t total = 0;
  std::vector<std::pair<std::string, std::int64_t>> kinds(snapshot.failed.begin(), snapshot.failed.end());
  std::ranges::stable_sort(kinds, std::greater(), &std::pair<std::string, std::int64_t>::second);
  std::vector<std::string> texts;
  for (const auto& [kind, count] : kinds) {
    total += count;
    texts.push_back(fmt::format("{} {}", count, kind));
  }
  return total == 0 ? "" : fmt::format("{} failed: {}", total, fmt::join(texts, ", "));
}

std::size_t width_of_parts(const std::vector<Segment>& parts) {
  std::size_t width = 0;
  for (const Segment& part : parts) width += (width == 0 ? 0 : std::string_view(kGap).size()) + width_of(part.text);
  return width;
}

/// Leaves out the last parts until the others fit, and cuts the only one that is left.
std::vector<Segment> fitted(std::vector<Segment> parts, std::size_t columns) {
  std::erase_if(parts, [](const Segment& part) { return part.text.empty(); });
  while (parts.size() > 1 && width_of_parts(parts) > columns) parts.pop_back();
  if (parts.size() == 1) parts.front().text = cut_to(parts.front().text, columns);
  return parts;
}

std::string line_of(const std::vector<Segment>& parts, bool colors) {
  std::vector<std::string> texts;
  for (const Segment& part : parts) texts.push_back(styled(part.text, part.style, colors));
  return fmt::format("{}", fmt::join(texts, kGap));
}

/// `[#####-----]`. Its length depends on the terminal alone, so that it does not jump.
std::string bar(double share, std::size_t columns) {
  const std::size_t cells = std::min(columns / 4, kLongestBar) - 2;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(cells - full, '-'));
}

/// Adds as much of the text as fits into the line, unless that would tell nothing.
void add_cut(std::vector<Segment>& parts, std::vector<Segment>::iterator place, const std::string& text,
             std::size_t columns) {
  const std::size_t used = width_of_parts(parts) + std::string_view(kGap).size();
  const std::size_t least = std::min(kShortestText, width_of(text));
  if (!text.empty() && used + least <= columns) parts.insert(place, Segment{cut_to(text, columns - used)});
}

std::vector<Segment> how_far(const Snapshot& snapshot, std::size_t columns) {
  std::vector<Segment> parts = {{count_text(snapshot)}, {eta_text(snapshot)}, {rate_text(snapshot)}};
  if (columns >= kLeastForBar) parts.insert(parts.begin(), Segment{bar(snapshot.share, columns)});
  parts = fitted(std::move(parts), columns);
  add_cut(parts, parts.end(), snapshot.running, columns);
  return parts;
}

std::vector<Segment> what_was_found(const Snapshot& snapshot, std::size_t columns) {
  std::vector<Segment> parts;
  if (!snapshot.best.empty())
    parts.push_back({title_of_best(snapshot) + snapshot.best + age_text(snapshot), kBestStyle});
  if (const std::string failed = failed_text(snapshot); !failed.empty()) parts.push_back({failed, kFailedStyle});
  parts = fitted(std::move(parts), columns);
  if (!snapshot.best.empty()) add_cut(parts, parts.begin() + 1, snapshot.best_settings, columns);
  return parts;
}

}  // namespace

std::string plain_line(const Snapshot& snapshot) {
  const std::string best = snapshot.best.empty()
                               ? ""
                               : title_of_best(snapshot) + snapshot.best + (snapshot.best_settings.empty() ? "" : " ") +
                                     snapshot.best_settings + age_text(snapshot);
  std::vector<std::string> parts = {count_text(snapshot),  rate_text(snapshot), best,
                                    failed_text(snapshot), snapshot.running,    eta_text(snapshot)};
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, " | "));
}

std::vector<std::string> terminal_lines(const Snapshot& snapshot, std::size_t columns, bool colors) {
  std::vector<std::string> lines = {line_of(how_far(snapshot, columns), colors)};
  if (const auto found = what_was_found(snapshot, columns); !found.empty()) lines.push_back(line_of(found, colors));
  return lines;
}

}  // namespace tune::report

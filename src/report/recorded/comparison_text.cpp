#include "report/recorded/comparison_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"
#include "report/text_page.h"

namespace tune::report {
namespace {

constexpr std::array<const char*, 6> kTitles = {"spec", "old (ms)", "new (ms)", "ratio", "interval", "verdict"};
constexpr std::size_t kNameIndent = 4;
constexpr double kNoNoise = 1e-9;  // what rounding makes of none
using Cells = std::array<std::string, kTitles.size()>;

std::string name_of(const ComparedSpec& row, const ComparedShape& shape) {
  const std::string spec = settings_text(row.entrant.spec, shape.varying);
  if (row.entrant.is_spec()) return spec.empty() ? "the only spec" : spec;
  if (spec.empty()) return line_with_escapes(row.entrant.name);
  const std::string old_spec = settings_text(row.old_spec, shape.varying);
  return fmt::format("{}: {}", row.entrant.name, old_spec == spec ? spec : fmt::format("{} -> {}", old_spec, spec));
}

std::string time_text(const std::optional<Estimate>& time) { return time ? four_digits(time->seconds * 1e3) : "-"; }

std::string interval_text(const ComparedSpec& row) { return row.interval ? report::interval_text(*row.interval) : "-"; }

/// Why the new result has no time; empty: it has one, or that is not known.
std::string failure_of(const ComparedSpec& row) {
  return row.now || row.failure.empty() ? "" : first_line(row.failure);
}

std::string verdict_text(const ComparedSpec& row) {
  const std::string failure = failure_of(row);
  return std::string(to_text(row.change)) + (failure.empty() ? "" : ": ") + failure;
}

Cells cells_of(const ComparedSpec& row, const ComparedShape& shape) {
  return {name_of(row, shape), time_text(row.before),
          time_text(row.now),  row.ratio ? fmt::format("{:.3f}", *row.ratio) : "-",
          interval_text(row),  verdict_text(row)};
}

/// The rows that are shown, and how many are not.
std::pair<std::vector<const ComparedSpec*>, std::size_t> shown_rows(const ComparedShape& shape, std::size_t top) {
  std::vector<const ComparedSpec*> rows;
  const std::size_t shown = top == 0 ? shape.specs.size() : std::min(top, shape.specs.size());
  for (const ComparedSpec& row : shape.best) rows.push_back(&row);
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(&shape.specs[i]);
  return {std::move(rows), shape.specs.size() - shown};
}

/// `36 specs: 1 slower, 35 within noise`.
std::string counts_text(const ComparedShape& shape) {
  std::map<Change, int> counts;
  for (const ComparedSpec& row : shape.specs) ++counts[row.change];
  std::vector<std::string> texts;
  for (const auto& [change, count] : counts) texts.push_back(fmt::format("{} {}", count, to_text(change)));
  return fmt::format("{}: {}", plural(shape.specs.size(), "spec"), fmt::join(texts, ", "));
}

/// What the intervals allow for beside the noise of launches; empty if nothing is known of that.
std::string noise_text(const ComparedShape& shape) {
  if (shape.process_noise < kNoNoise) return "";
  return fmt::format("noise between processes: {:.2g} %, as sweep and finals of the same specs differ",
                     shape.process_noise * 100);
}

/// `; 7 of 13 specs were not judged, because their noise is not known`, of those that both runs have
std::string unjudged(const RunComparison& comparison) {
  int specs = 0, unknown = 0;
  for (const ComparedShape& shape : comparison.shapes)
    for (const ComparedSpec& row : shape.specs) {
      specs += row.change != Change::only_before && row.change != Change::only_now ? 1 : 0;
      unknown += row.change == Change::unknown ? 1 : 0;
    }
  if (unknown == 0) return "";
  return fmt::format("; {} of {} specs {} not judged, because {} noise is not known", unknown, specs,
                     unknown == 1 ? "was" : "were", unknown == 1 ? "its" : "their");
}

/// `the best and 3 specs are`: the regressions.
std::string regressed_text(const RunComparison& comparison) {
  const auto best = static_cast<std::size_t>(std::ranges::count_if(comparison.shapes, [](const ComparedShape& shape) {
    return !shape.best.empty() && is_regression(shape.best.front().change);
  }));
  const std::size_t all = regressions(comparison);
  std::vector<std::string> texts;
  if (best > 0) texts.push_back(comparison.shapes.size() == 1 ? "the best" : "the best of " + plural(best, "problem"));
  if (all > best) texts.push_back(plural(all - best, "spec"));
  return fmt::format("{} {}", fmt::join(texts, " and "), all == 1 ? "is" : "are");
}

std::string verdict_of(const RunComparison& comparison) {
  if (comparison.shapes.empty())
    return "UNDECIDED: there is nothing to compare, because no problem and spec is in both";
  const std::string slower = fmt::format("slower by more than {:.3g} %", comparison.threshold * 100);
  if (comparison.same_run) return "PASS: both are the same run";
  const Answer answer = is_slower(comparison);
  const std::string verdict =
      answer == Answer::yes
          ? fmt::format("FAIL: {} {} beyond doubt, or failing now", regressed_text(comparison), slower)
      : answer == Answer::open
          ? fmt::format("UNDECIDED: the best may be {}", slower)
          : fmt::format("PASS: no regression: the best is not {}, and nothing else is so beyond doubt or fails now",
                        slower);
  return verdict + unjudged(comparison);
}

/// What to do if the question is open; empty where it is answered, where nothing can be compared, or where the verdict
/// of the run says it, which was to time both.
std::string next_text(const RunComparison& comparison) {
  const bool is_open = !comparison.shapes.empty() && is_slower(comparison) == Answer::open;
  if (!is_open || !comparison.why_recorded.empty()) return "";
  return "next: measure old and new again, one after the other on an idle machine, or in turns with tune --tune "
         "--baseline OLD.yaml, if the build store still has what it built for OLD.yaml";
}

std::string run_text(const ComparedRun& run) {
  std::string text = run.file;
  if (!run.kernel.empty()) text += fmt::format(": {}", run.kernel);
  if (!run.device.empty()) text += fmt::format(" on {}", run.device);
  return line_with_escapes(text);
}

std::vector<GridColumn> columns_for(const std::vector<const ComparedSpec*>& rows, const ComparedShape& shape) {
  std::vector<GridColumn> columns;
  for (std::size_t i = 0; i < kTitles.size(); ++i) {
    GridColumn column{kTitles[i], i == 0 ? std::size_t{1} : std::size_t{2}, {}};
    for (const ComparedSpec* row : rows) column.cells.push_back(cells_of(*row, shape)[i]);
    columns.push_back(std::move(column));
  }
  return columns;
}

/// A name tells specs apart by any of its values, so it has lines of its own where the table is too wide.
void add_narrow_table(TextPage& page, const std::vector<const ComparedSpec*>& rows, std::vector<GridColumn> columns) {
  for (std::size_t i = 0; i < rows.size(); ++i) columns.back().cells[i] = to_text(rows[i]->change);
  const std::vector<std::string> figures = grid_lines(std::span(columns).subspan(1));
  page.row(figures.front());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string name = columns.front().cells[i];
    for (auto at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
      if (name.find('=', at) < name.find('/', at + 1)) name[at] = ' ';  // not within a value
    page.prose(name, kNameIndent);
    page.row(figures[i + 1]);
    if (const std::string failure = failure_of(*rows[i]); !failure.empty())
      page.prose(std::string(kNameIndent, ' ') + failure, kNameIndent);
  }
}

void add_table(TextPage& page, const std::vector<const ComparedSpec*>& rows, const ComparedShape& shape, int width) {
  std::vector<GridColumn> columns = columns_for(rows, shape);
  if (width > 0 && grid_width(columns) > static_cast<std::size_t>(width))
    return add_narrow_table(page, rows, std::move(columns));
  for (const std::string& line : grid_lines(columns)) page.whole(line);
}

/// Characters that Markdown or HTML would not show as they are become entities.
std::string markdown(std::string_view text) {
  std::string result;
  for (const char c : line_with_escapes(text))
    result += std::string_view("&<>\"'|`*_~[]()\\#!@$").find(c) == std::string_view::npos
                  ? std::string(1, c)
                  : fmt::format("&#{};", static_cast<int>(c));
  return result;
}

std::string xml(std::string_view text) {
  std::string result;
  for (const char c : line_with_escapes(text))
    result += std::string_view("&<>\"'").find(c) == std::string_view::npos ? std::string(1, c)
                                                                           : fmt::format("&#{};", static_cast<int>(c));
  return result;
}

std::string markdown_row(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown(cell) + " |";
  return line + "\n";
}

bool is_skipped(Change change) {
  return change == Change::unknown || change == Change::open || change == Change::only_before ||
         change == Change::only_now;
}

/// The test cases of one problem.
class JunitSuite {
 public:
  explicit JunitSuite(const RunComparison& comparison)
      : name_(comparison.now.kernel.empty() ? "tune" : comparison.now.kernel) {}

  void add(const ComparedShape& shape) {
    if (!shape.problem.empty()) name_ += " " + shape.problem;
    add(shape.best.front(), shape);
    for (const ComparedSpec& row : shape.specs) add(row, shape);
  }

  /// A file without a test case would look as if everything had passed.
  void add_undecided(const std::string& verdict) {
    begin_case("comparison", 0);
    skip(xml(verdict));
  }

  int tests() const { return tests_; }
  int failures() const { return failures_; }
  int skipped() const { return skipped_; }
  std::string text() const {
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n",
        xml(name_), tests_, failures_, skipped_, cases_);
  }

 private:
  void begin_case(const std::string& name, double seconds) {
    cases_ += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9g}\"", xml(name_), xml(name), seconds);
    ++tests_;
  }

  void skip(const std::string& why) {
    ++skipped_;
    cases_ += fmt::format("><skipped message=\"{}\"/></testcase>\n", why);
  }

  void add(const ComparedSpec& row, const ComparedShape& shape) {
    begin_case(name_of(row, shape), row.now ? row.now->seconds : 0);
    const std::string why =
        xml(fmt::format("{}; old {} ms, new {} ms, ratio {} ({})", verdict_text(row), time_text(row.before),
                        time_text(row.now), row.ratio ? fmt::format("{:.3f}", *row.ratio) : "-", interval_text(row)));
    if (is_regression(row.change)) {
      ++failures_;
      cases_ += fmt::format("><failure type=\"{}\" message=\"{}\"/></testcase>\n", xml(to_text(row.change)), why);
    } else if (is_skipped(row.change)) {
      skip(why);
    } else {
      cases_ += fmt::format("><system-out>{}</system-out></testcase>\n", why);
    }
  }

  std::string name_, cases_;
  int tests_ = 0, failures_ = 0, skipped_ = 0;
};

}  // namespace

std::string comparison_text(const RunComparison& comparison, std::size_t top, int width) {
  TextPage page(width, false);
  page.prose("old: " + run_text(comparison.before));
  page.prose("new: " + run_text(comparison.now));
  for (const ComparedShape& shape : comparison.shapes) {
    if (!shape.problem.empty()) page.prose(line_with_escapes(shape.problem));
    const auto [rows, hidden] = shown_rows(shape, top);
    add_table(page, rows, shape, width);
    if (hidden > 0) page.prose(fmt::format("({} more: the same command with --top all)", hidden));
    if (!shape.specs.empty()) page.prose(counts_text(shape));
    if (const std::string noise = noise_text(shape); !noise.empty()) page.prose(noise);
  }
  for (const std::string& warning : comparison.warnings) page.prose("warning: " + warning);
  page.prose(verdict_of(comparison));
  if (const std::string next = next_text(comparison); !next.empty()) page.prose(next);
  return page.text();
}

std::string comparison_markdown(const RunComparison& comparison, std::size_t top) {
  std::string text = fmt::format("### {}\n\nold: {}\nnew: {}\n", markdown(verdict_of(comparison)),
                                 markdown(run_text(comparison.before)) + "  ", markdown(run_text(comparison.now)));
  for (const std::string& warning : comparison.warnings) text += "\n> warning: " + markdown(warning) + "\n";
  if (const std::string next = next_text(comparison); !next.empty()) text += "\n" + markdown(next) + "\n";
  for (const ComparedShape& shape : comparison.shapes) {
    if (!shape.problem.empty()) text += fmt::format("\n#### {}\n", markdown(shape.problem));
    const auto [rows, hidden] = shown_rows(shape, top);
    text += "\n" + fmt::format("| {} |\n|:--|--:|--:|--:|--:|:--|\n", fmt::join(kTitles, " | "));
    for (const ComparedSpec* row : rows) text += markdown_row(cells_of(*row, shape));
    text +=
        "\n" + markdown(counts_text(shape)) + (hidden > 0 ? fmt::format(" ({} rows are not shown)\n", hidden) : "\n");
  }
  return text;
}

std::string comparison_junit(const RunComparison& comparison) {
  std::string suites;
  int tests = 0, failures = 0, skipped = 0;
  const auto take = [&](const JunitSuite& suite) {
    suites += suite.text();
    tests += suite.tests();
    failures += suite.failures();
    skipped += suite.skipped();
  };
  for (const ComparedShape& shape : comparison.shapes) {
    JunitSuite suite(comparison);
    suite.add(shape);
    take(suite);
  }
  if (comparison.shapes.empty()) {
    JunitSuite suite(comparison);
    suite.add_undecided(verdict_of(comparison));
    take(suite);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"tune diff\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}</testsuites>\n",
      tests, failures, skipped, suites);
}

}  // namespace tune::report

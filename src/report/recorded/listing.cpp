#include "report/recorded/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "model/values/error.h"
#include "model/values/names.h"
#include "model/values/text.h"
#include "report/columns.h"
#include "report/shown_text.h"
#include "report/text_page.h"

namespace tune::report {
namespace {

/// A column that can be asked for: what a row has there, as text and for sorting. A text without a number is sorted as
/// a text.
struct Listed {
  std::string title;
  std::function<std::string(const Row&)> text;
  std::function<double(const Row&)> number;  ///< NaN: none
};

/// `met` for `met (ms)`.
std::string short_title(const std::string& title) { return title.substr(0, title.find(" (")); }

Listed number_column(const std::string& title, std::function<double(const Row&)> number) {
  return {title, [number](const Row& row) { return four_digits(number(row)); }, number};
}

Listed parameter_column(const std::string& name) {
  const auto value = [name](const Row& row) { return row.spec->find(name); };
  return {name, [value](const Row& row) { return value(row) == nullptr ? "-" : to_text(*value(row)); },
          [value](const Row& row) {
            return value(row) == nullptr ? std::nan("") : number_of(*value(row)).value_or(std::nan(""));
          }};
}

Listed time_column(const std::string& name, double Timing::*time) {
  return number_column(name + " (ms)", [time](const Row& row) {
    const double seconds = row.measurement.timing.*time;
    return seconds > 0 ? seconds * 1e3 : std::nan("");
  });
}

Listed property_column(const std::string& name) {
  const auto value = [name](const Row& row) {
    const auto found = row.measurement.build.properties.find(name);
    return found == row.measurement.build.properties.end() ? std::nan("") : found->second;
  };
  return {name, [value](const Row& row) { return whole_or_four_digits(value(row)); }, value};
}

void add_table_columns(std::vector<Listed>& all, const Summary& summary) {
  all.push_back({"mesh_idx", mesh_text, [](const Row& row) { return static_cast<double>(row.spec->mesh_idx); }});
  all.push_back({"name",
                 [&summary](const Row& row) {
                   return row.baseline ? row.baseline->name : settings_text(*row.spec, summary.varying);
                 },
                 [](const Row&) { return std::nan(""); }});
  all.push_back(time_column("met", &Timing::median));
  all.push_back(
      {"iters", iters_text, [](const Row& row) { return static_cast<double>(row.measurement.timing.count); }});
  for (const Column& column : summary.columns) {
    const auto value = [&column](const Row& row) { return column.value(*row.spec, row.measurement); };
    all.push_back(number_column(column.name, value));
    if (!column.unit.empty()) all.push_back(number_column(column.unit, value));
  }
  all.push_back(number_column("+- %", [](const Row& row) {
    return relative_width(estimate_of(row.measurement.timing)).value_or(std::nan("")) * 100;
  }));
  for (const RankedBaseline& baseline : summary.ranking.baselines)
    if (baseline.finals_result)
      all.push_back(number_column("x " + baseline.entrant.name, [&baseline](const Row& row) {
        return row.finals_result ? baseline.finals_result->ratio / row.finals_result->ratio : std::nan("");
      }));
  all.push_back({"note", note_text, [](const Row&) { return std::nan(""); }});
}

std::vector<Listed> listed_columns(const Summary& summary, const std::vector<Row>& rows) {
  std::vector<Listed> all;
  add_table_columns(all, summary);
  std::set<std::string> parameters, properties;
  for (const Row& row : rows) {
    for (const Setting& setting : row.spec->params) parameters.insert(setting.name);
    for (const auto& [name, value] : row.measurement.build.properties) properties.insert(name);
  }
  for (const std::string& name : parameters) all.push_back(parameter_column(name));
  for (const auto& [name, time] :
       std::initializer_list<std::pair<const char*, double Timing::*>>{{"min", &Timing::min},
                                                                       {"mean", &Timing::mean},
                                                                       {"p95", &Timing::p95},
                                                                       {"ci_low", &Timing::ci_low},
                                                                       {"ci_high", &Timing::ci_high}})
    all.push_back(time_column(name, time));
  all.push_back(number_column("max_error", [](const Row& row) {
    return row.baseline == nullptr && row.measurement.checked ? row.measurement.max_error : std::nan("");
  }));
  for (const std::string& name : properties) all.push_back(property_column(name));
  return all;
}

const Listed& find_column(const std::vector<Listed>& all, const std::string& name, const char* option) {
  auto found = std::ranges::find(all, name, &Listed::title);
  if (found == all.end())
    found = std::ranges::find(all, name, [](const Listed& column) { return short_title(column.title); });
  if (found != all.end()) return *found;
  std::vector<std::string> titles;
  for (const Listed& column : all) titles.push_back(short_title(column.title));
  const std::string meant = did_you_mean(name, titles);
  throw Error(ExitCode::bad_input,
              fmt::format("{}: there is no column '{}'{}", option, name,
                          meant.empty() ? fmt::format("; there are {}", fmt::join(titles, ", ")) : meant));
}

void sort_rows(std::vector<Row>& rows, const Listed& column, bool descending) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    const double x = column.number(a), y = column.number(b);
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    if (!std::isnan(x)) return descending ? x > y : x < y;
    return descending ? column.text(a) > column.text(b) : column.text(a) < column.text(b);
  });
}

std::vector<GridColumn> chosen_columns(const std::vector<Listed>& all, const std::vector<std::string>& names,
                                       const std::vector<Row>& rows) {
  std::vector<GridColumn> grid;
  for (const std::string& name : names) {
    const Listed& column = find_column(all, name, "--columns");
    grid.push_back({column.title, grid.empty() ? 1U : 2U, {}});
    for (const Row& row : rows) grid.back().cells.push_back(column.text(row));
  }
  return grid;
}

/// How much is wrong, and where.
std::string second_line(const std::string& message) { return first_line(message.substr(message.find('\n') + 1)); }

/// Why a spec has no result, and, of a wrong one, how much is wrong.
std::pair<std::string, std::string> reason_of(const Trial& trial) {
  const Failure* failure = trial.failure();
  if (failure == nullptr)
    return {"pruned after the build: " + first_line(std::get<PrunedAfterBuild>(trial.outcome).reason), ""};
  const bool says_more = failure->stage == Stage::check && failure->message.find('\n') != std::string::npos;
  return {fmt::format("{}, {}: {}", to_text(failure->stage), to_text(failure->cause), first_line(failure->message)),
          says_more ? second_line(failure->message) : ""};
}

/// `3, 7-9`: the numbers of all but the first. Precondition: ascending.
std::string others_text(std::span<const Trial* const> alike) {
  std::vector<std::string> runs;
  for (std::size_t i = 1, end = i; i < alike.size(); i = end) {
    const std::int64_t first = alike[i]->spec.mesh_idx;
    for (end = i + 1; end < alike.size() && alike[end]->spec.mesh_idx == alike[end - 1]->spec.mesh_idx + 1;) ++end;
    const std::int64_t last = alike[end - 1]->spec.mesh_idx;
    runs.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

/// The first of specs that failed alike, and which others did.
std::string failure_lines(std::span<const Trial* const> alike, const Summary& summary) {
  const Trial& trial = *alike.front();
  const auto [why, more] = reason_of(trial);
  const std::string name = settings_text(trial.spec, summary.varying);
  std::string text;
  const auto add = [&](const std::string& line) {
    for (const std::string& part : wrapped(line, static_cast<std::size_t>(summary.width), 9)) text += part + '\n';
  };
  add(fmt::format("{:7}  {}{}{}", trial.spec.mesh_idx, name, name.empty() ? "" : "  ", why));
  if (!more.empty()) add(std::string(9, ' ') + more);
  if (alike.size() > 1)
    add(fmt::format("{:9}and {} alike: {}", "", plural(alike.size() - 1, "other"), others_text(alike)));
  if (const auto log = summary.logs.find(trial.spec.mesh_idx); log != summary.logs.end())
    text += fmt::format("         log: {}\n", printable(log->second, log->second.size()));
  return text;
}

}  // namespace

std::string fitted(std::string_view lines, int width) {
  if (width == 0) return std::string(lines);
  std::string text;
  std::istringstream all{std::string(lines)};
  for (std::string line; std::getline(all, line);) text += cut_to(line, static_cast<std::size_t>(width)) + '\n';
  return text;
}

std::string listing_text(const Summary& summary, const ListingRules& rules) {
  std::vector<Row> rows = rows_of_specs(summary);
  const OptionalColumns optional = needed_columns(rows);
  const std::vector<Listed> all = listed_columns(summary, rows);
  if (rules.sort) sort_rows(rows, find_column(all, *rules.sort, "--sort"), rules.descending);
  const std::size_t hidden = hide_rows(rows, summary);
  for (Row& baseline : rows_of_baselines(summary)) rows.push_back(std::move(baseline));
  if (rows.empty()) return "no spec has a result\n";
  const SpecTable table = rules.columns.empty() ? spec_table(summary, rows, optional)
                                                : SpecTable{{chosen_columns(all, rules.columns, rows)}};
  TextPage page(summary.width, false);
  page.prose(lacks_text(table));
  if (hidden > 0) page.prose(fmt::format("({} more: the same command with --top all)", hidden));
  return fitted(grid_text(table.columns), summary.width) + page.text();
}

std::string failures_text(const Summary& summary, std::size_t top) {
  std::vector<const Trial*> lost;
  for (const Trial& trial : summary.trials)
    if (trial.measurement() == nullptr) lost.push_back(&trial);
  std::ranges::sort(lost, {}, [](const Trial* trial) { return trial->spec.mesh_idx; });
  std::vector<std::vector<const Trial*>> groups;  // with `top` 0 each for itself
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Trial* trial : lost) {
    const auto [place, is_new] = places.emplace(reason_of(*trial), groups.size());
    if (is_new || top == 0) {
      place->second = groups.size();
      groups.emplace_back();
    }
    groups[place->second].push_back(trial);
  }
  std::string text = fmt::format("failed: {} of {}\n", lost.size(), summary.trials.size());
  std::size_t left = lost.size();
  const std::size_t shown = top == 0 ? groups.size() : std::min(top, groups.size());
  for (const auto& alike : std::span(groups).first(shown)) {
    text += failure_lines(alike, summary);
    left -= alike.size();
  }
  if (left > 0) text += fmt::format("({} more: the same command with --top all)\n", left);
  return text;
}

}  // namespace tune::report

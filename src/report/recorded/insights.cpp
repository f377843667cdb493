#include "report/recorded/insights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "report/fitted_table.h"
#include "report/recorded/listing.h"
#include "report/shown_text.h"

namespace tune::report {
namespace {

constexpr std::size_t kBarColumns = 40;

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string hash_bar(double share, std::size_t columns) {
  const double length = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) : 0;
  return std::string(static_cast<std::size_t>(std::lround(length)), '#');
}

/// Sentences, in lines that the terminal shows whole.
std::string broken(const std::string& sentences, int width) {
  if (width == 0) return sentences;
  std::string text;
  std::istringstream lines(sentences);
  for (std::string line; std::getline(lines, line);)
    for (const std::string& part : wrapped(line, static_cast<std::size_t>(width), 4)) text += part + '\n';
  return text;
}

std::string left_aligned(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string importance_text(const Effects& effects) {
  std::size_t widest = 0;
  for (const ParameterEffect& parameter : effects.parameters) widest = std::max(widest, width_of(parameter.name));
  std::string text;
  for (const ParameterEffect& parameter : effects.parameters) {
    std::string line = fmt::format("  {}  {:>5}  (by chance {:>4})  {}", left_aligned(parameter.name, widest),
                                   percent(parameter.explained), percent(parameter.by_chance),
                                   hash_bar(parameter.explained, kBarColumns));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::vector<GridColumn> columns_of(const ParameterEffect& parameter, const MeritUnit& unit) {
  std::vector<GridColumn> columns = {{parameter.name, 2, {}},       {"specs", 2, {}},  {"failed", 2, {}},
                                     {"best " + unit.title, 2, {}}, {"median", 2, {}}, {"top 5 %", 2, {}}};
  for (const ValueEffect& value : parameter.values) {
    const auto merit = [&](double x) { return value.judged == 0 ? "-" : four_digits(x * unit.factor); };
    const std::string cells[] = {to_text(value.value), std::to_string(value.judged), std::to_string(value.failed),
                                 merit(value.best),    merit(value.median),          percent(value.top_share)};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

double sweep_seconds(const Ranked& row) { return row.timed().measurement()->timing.typical(); }

/// Whether both were in the finals, so that their times can be compared there.
bool both_stood(const Ranked& a, const Ranked& b) { return a.finals_result && b.finals_result; }

/// How many times as good the winner is. `drift`: what the finals' times are to those of the sweep.
double distance(const Ranked& winner, const Ranked& other, const MeritUnit& unit, double drift) {
  if (unit.title != MeritUnit().title)
    return unit.maximize ? winner.objective / other.objective : other.objective / winner.objective;
  if (both_stood(winner, other)) return other.finals_result->ratio / winner.finals_result->ratio;
  const double seconds = winner.finals_result ? winner.finals_result->time.seconds : sweep_seconds(winner);
  return sweep_seconds(other) * drift / seconds;
}

/// The median of those that were timed in both; 1 without finals.
double drift_of(const Ranking& ranking) {
  std::vector<double> ratios;
  for (const Ranked& row : ranking.rows)
    if (row.finals_result) ratios.push_back(row.finals_result->time.seconds / sweep_seconds(row));
  return ratios.empty() ? 1 : median(std::move(ratios));
}

/// The lowest is the best.
double cost(const Ranked& winner, const Ranked& other, const MeritUnit& unit, double drift) {
  if (unit.title == MeritUnit().title) return distance(winner, other, unit, drift);
  return unit.maximize ? -other.objective : other.objective;
}

std::string named(const Ranked& row, const Summary& summary) {
  const std::string settings = settings_text(row.trial->spec, summary.varying);
  return fmt::format("{}{}", row.trial->spec.mesh_idx, settings.empty() ? "" : " (" + settings + ")");
}

/// The best of the rows by a figure, lowest first; null if none has it.
template <class Figure>
const Ranked* lowest(const Ranking& ranking, Figure figure) {
  const Ranked* best = nullptr;
  for (const Ranked& row : ranking.rows)
    if (std::isfinite(figure(row)) && (best == nullptr || figure(row) < figure(*best))) best = &row;
  return best;
}

std::string without_finals(const Summary& summary) {
  const auto figure = [](const Ranked& row) {
    return row.timed().measurement()->timing.stopped_early ? std::nan("") : sweep_seconds(row);
  };
  const Ranked& winner = summary.ranking.rows.front();
  if (!winner.finals_result) return "  There were no finals: the times of the sweep decided.\n";
  const Ranked* best = lowest(summary.ranking, figure);
  if (best == nullptr || &best->timed() == &winner.timed()) return "  Without the finals, it would have won, too.\n";
  return fmt::format("  Without the finals, {} would have won: {} ms in the sweep, where the winner took {} ms.\n",
                     named(*best, summary), four_digits(sweep_seconds(*best) * 1e3),
                     four_digits(sweep_seconds(winner) * 1e3));
}

std::string in_other_state(const Summary& summary) {
  const Ranked* best = lowest(summary.ranking, [](const Ranked& row) {
    return row.finals_result ? row.finals_result->other_state_seconds.value_or(std::nan("")) : std::nan("");
  });
  if (best == nullptr) return "";
  const std::string state(to_text(summary.other_state));
  if (best == &summary.ranking.rows.front())
    return fmt::format("  In the power state `{}`, it would have won, too.\n", state);
  return fmt::format("  In the power state `{}`, {} would have won.\n", state, named(*best, summary));
}

std::string ties(const Summary& summary) {
  std::string others;
  for (const Ranked& row : summary.ranking.rows)
    if (&row != &summary.ranking.rows.front() && row.finals_result && row.finals_result->tie)
      others += (others.empty() ? "" : ", ") + std::to_string(row.trial->spec.mesh_idx);
  return others.empty() ? "" : "  It is tied with " + others + ": they are as fast.\n";
}

/// The best spec with another value of each of the winner's parameters.
std::string other_values(const Summary& summary, const MeritUnit& unit) {
  std::vector<GridColumn> columns = {{"without", 2, {}},
                                     {"mesh_idx", 2, {}},
                                     {unit.title, 2, {}},
                                     {"times as bad", 2, {}},
                                     {"the best would be", 2, {}}};
  const Ranked& winner = summary.ranking.rows.front();
  const double factor = unit.factor, drift = drift_of(summary.ranking);
  for (const std::string& name : summary.varying) {
    const Value* own = winner.trial->spec.find(name);
    if (own == nullptr) continue;
    const auto cost_without = [&](const Ranked& row) {
      const Value* value = row.trial->spec.find(name);
      const bool has_it = value != nullptr && same(*value, *own);
      return has_it || row.failed_in_finals != nullptr ? std::nan("") : cost(winner, row, unit, drift);
    };
    const Ranked* other = lowest(summary.ranking, cost_without);
    if (other == nullptr) continue;
    const bool of_sweep = unit.title == MeritUnit().title && !both_stood(winner, *other);
    const std::string cells[] = {name + "=" + to_text(*own), std::to_string(other->trial->spec.mesh_idx),
                                 four_digits(other->objective * factor * (of_sweep ? drift : 1)),
                                 four_digits(distance(winner, *other, unit, drift)),
                                 settings_text(other->trial->spec, summary.varying)};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  if (columns.front().cells.empty()) return "";
  return "Without one of its values, another spec would be the best:\n" + grid_text(columns);
}

}  // namespace

std::string effects_text(const Effects& effects, const MeritUnit& unit, int width) {
  if (effects.parameters.empty()) return "no parameter has several values among the specs that were tried\n";
  std::string text = fmt::format(
      "How much of the variance of {} a parameter explains alone, over {} specs:\n{}\n"
      "Its values; top 5 %: which share of the best 5 % of the specs ({}) has the value:\n",
      unit.title, effects.judged, importance_text(effects), effects.top);
  for (const ParameterEffect& parameter : effects.parameters) text += grid_text(columns_of(parameter, unit)) + "\n";
  text.pop_back();
  return fitted(text, width);
}

std::string chart_text(const Summary& summary, const MeritUnit& unit) {
  const auto& rows = summary.ranking.rows;
  const std::size_t count = summary.top == 0 ? rows.size() : std::min(summary.top, rows.size());
  double largest = 0;
  std::size_t widest = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, rows[i].objective);
    names.push_back(settings_text(rows[i].trial->spec, summary.varying));
    widest = std::max(widest, width_of(names.back()));
  }
  const auto width = static_cast<std::size_t>(summary.width);
  if (width > 0) widest = std::min(widest, std::max<std::size_t>(width / 3, 8));
  const std::size_t used = 9 + 1 + widest + 2 + 9 + 2;
  const std::size_t columns = width == 0 ? kBarColumns : width > used + 8 ? width - used : 8;
  std::string text = fmt::format(" mesh_idx {}  {:>9}\n", left_aligned("name", widest), unit.title);
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("{:9} {}  {:>9}  {}\n", rows[i].trial->spec.mesh_idx,
                        left_aligned(cut_to(names[i], widest), widest), four_digits(rows[i].objective * unit.factor),
                        hash_bar(rows[i].objective / largest, columns));
  if (count < rows.size()) text += fmt::format("({} more: the same command with --top all)\n", rows.size() - count);
  return text;
}

std::string changes_text(const Summary& summary, const MeritUnit& unit) {
  const Ranked& winner = summary.ranking.rows.front();
  std::string prose = fmt::format("What would change the winner, {}:\n", named(winner, summary));
  if (unit.title == MeritUnit().title) prose += without_finals(summary) + ties(summary) + in_other_state(summary);
  return broken(prose, summary.width) + fitted(other_values(summary, unit), summary.width);
}

}  // namespace tune::report

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "commands/audit/audit.h"
#include "report/csv.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"

namespace tune::commands {
namespace {

constexpr double kChanged = 0.01;

/// The winner that most runs have; of several the one that came first.
const AuditRun* most_frequent(const std::vector<AuditRun>& runs) {
  std::map<std::string, int> counts;
  for (const AuditRun& run : runs)
    if (run.winner) ++counts[identity(*run.winner)];
  const AuditRun* most = nullptr;
  for (const AuditRun& run : runs)
    if (run.winner && (most == nullptr || counts[identity(*run.winner)] > counts[identity(*most->winner)])) most = &run;
  return most;
}

bool has_changed(const AuditRun& run, const AuditRun& usual) {
  if (!run.winner) return true;
  if (identity(*run.winner) == identity(*usual.winner)) return false;
  return !run.relative || !usual.relative || std::abs(*run.relative / *usual.relative - 1) > kChanged;
}

void count(AuditCount& counts, std::optional<bool> good) {
  if (!good) return;
  ++counts.tried;
  counts.good += *good ? 1 : 0;
}

void add(AuditCount& sum, const AuditCount& counts) {
  sum.good += counts.good;
  sum.tried += counts.tried;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string text_of(const AuditCount& counts) {
  return counts.tried > 0 ? fmt::format("{}/{}", counts.good, counts.tried) : "-";
}

std::string regret_text(const AuditFigures& figures, double regret) {
  return figures.known > 0 ? percent(regret) : "-";
}

std::string of_all(const AuditFigures& all, std::size_t shapes) {
  std::string text = fmt::format("all: winner changed beyond 1 % in {} of {} shapes and {} of {} runs ({})\n",
                                 all.shapes_changed, shapes, all.changed, all.runs, percent(all.changed_share()));
  if (all.known > 0)
    text +=
        fmt::format("     regret {} in the mean, {} at worst\n", percent(all.mean_regret), percent(all.worst_regret));
  std::vector<std::string> alike;
  if (all.replayed.tried > 0) alike.push_back("replayed alike " + text_of(all.replayed));
  if (all.simulated.tried > 0) alike.push_back("simulated alike " + text_of(all.simulated));
  if (!alike.empty()) text += fmt::format("     {}\n", fmt::join(alike, ", "));
  return text;
}

std::string yes_or_no(std::optional<bool> good) { return !good ? "" : *good ? "yes" : "no"; }

std::string csv_row(const AuditedShape& shape, const AuditRun& run) {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{}\n", report::quoted(shape.name), run.number, run.seed,
      run.winner ? std::to_string(run.winner->mesh_idx) : "", run.winner ? report::quoted(identity(*run.winner)) : "",
      run.winner ? fmt::format("{:.9g}", run.seconds * 1e3) : "",
      run.relative ? fmt::format("{:.6g}", *run.relative - 1) : "", yes_or_no(run.replayed), yes_or_no(run.simulated));
}

}  // namespace

std::string identity(const Spec& spec) {
  std::vector<std::string> names;
  for (const Setting& setting : spec.params) names.push_back(setting.name);
  return report::settings_text(spec, names);
}

AuditFigures figures_of(const AuditedShape& shape) {
  AuditFigures figures;
  std::map<std::string, int> winners;
  const AuditRun* usual = most_frequent(shape.runs);
  for (const AuditRun& run : shape.runs) {
    ++figures.runs;
    if (run.winner) ++winners[identity(*run.winner)];
    figures.without_winner += run.winner ? 0 : 1;
    figures.changed += usual != nullptr && has_changed(run, *usual) ? 1 : 0;
    count(figures.replayed, run.replayed);
    count(figures.simulated, run.simulated);
    if (!run.relative) continue;
    const double regret = *run.relative - 1;
    figures.mean_regret += (regret - figures.mean_regret) / ++figures.known;
    figures.worst_regret = std::max(figures.worst_regret, regret);
  }
  figures.winners = static_cast<int>(winners.size());
  figures.shapes_changed = figures.changed > 0 ? 1 : 0;
  return figures;
}

AuditFigures figures_of(const std::vector<AuditedShape>& shapes) {
  AuditFigures all;
  double sum = 0;
  for (const AuditedShape& shape : shapes) {
    const AuditFigures figures = figures_of(shape);
    all.runs += figures.runs;
    all.without_winner += figures.without_winner;
    all.winners += figures.winners;
    all.changed += figures.changed;
    all.shapes_changed += figures.shapes_changed;
    all.known += figures.known;
    sum += figures.mean_regret * figures.known;
    all.worst_regret = std::max(all.worst_regret, figures.worst_regret);
    add(all.replayed, figures.replayed);
    add(all.simulated, figures.simulated);
  }
  if (all.known > 0) all.mean_regret = sum / all.known;
  return all;
}

std::string audit_text(const std::vector<AuditedShape>& shapes) {
  std::vector<AuditFigures> figures;
  for (const AuditedShape& shape : shapes) figures.push_back(figures_of(shape));
  std::vector<report::GridColumn> columns = {{.title = "shape", .gap = 0, .cells = {}}};
  for (const AuditedShape& shape : shapes) columns[0].cells.push_back(shape.name);
  const auto add_column = [&](const char* title, const auto& cell) {
    columns.push_back({.title = title, .cells = {}});
    for (const AuditFigures& of_shape : figures) columns.back().cells.push_back(cell(of_shape));
  };
  add_column("runs", [](const AuditFigures& f) { return std::to_string(f.runs); });
  add_column("winners", [](const AuditFigures& f) { return std::to_string(f.winners); });
  add_column("changed", [](const AuditFigures& f) { return percent(f.changed_share()); });
  add_column("regret", [](const AuditFigures& f) { return regret_text(f, f.mean_regret); });
  add_column("worst", [](const AuditFigures& f) { return regret_text(f, f.worst_regret); });
  const AuditFigures all = figures_of(shapes);
  if (all.replayed.tried > 0) add_column("replay", [](const AuditFigures& f) { return text_of(f.replayed); });
  if (all.simulated.tried > 0) add_column("simulate", [](const AuditFigures& f) { return text_of(f.simulated); });
  if (all.without_winner > 0)
    add_column("no winner", [](const AuditFigures& f) { return std::to_string(f.without_winner); });
  return report::grid_text(columns) + of_all(all, shapes.size());
}

std::string audit_csv(const std::vector<AuditedShape>& shapes) {
  std::string text = "shape,run,seed,mesh_idx,params,met (ms),regret,replay,simulate\n";
  for (const AuditedShape& shape : shapes)
    for (const AuditRun& run : shape.runs) text += csv_row(shape, run);
  return text;
}

}  // namespace tune::commands

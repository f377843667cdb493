#include "report/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/text.h"

namespace tune::report {
namespace {

constexpr std::size_t kShortestName = 4;

/// What a column is, in the order in which columns leave a table that is too wide.
enum class Part { other_state, lesser_figure, spread, ratio, figure, note, name, other };

struct TableColumn {
  Part part = Part::other;
  GridColumn grid;
};

/// How the columns say what they say.
struct Form {
  bool run_name = true;      ///< names begin with the name of the run
  bool long_titles = true;   ///< `Arithmetic (GFLOPS/s)`, else `GFLOPS/s`
  bool iters = true;         ///< how often each was launched
  bool values_only = false;  ///< names are `128/64` below the title `BM/BN`, else `BM=128/BN=64`
};

/// From the widest to the narrowest.
constexpr Form kForms[] = {{}, {false}, {false, false}, {false, false, false}, {false, false, false, true}};

std::string six_decimals(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const bool fits = size == 0 || (size >= 1e-3 && size < 1e12);
  return fits ? fmt::format("{:.6f}", value) : fmt::format("{:.6g}", value);
}

/// Half the interval relative to the median. One launch has no spread, and a program tells none.
std::string spread_text(const Timing& timing) {
  if (timing.count < 2 || timing.ci_high == 0) return "-";
  return fmt::format("{:.2f}", (timing.ci_high - timing.ci_low) / 2 / timing.median * 100);
}

// Not known of the finals in a CSV file.
std::string iters_text(const Row& row) {
  return row.measurement.timing.count == 0 ? "-" : fmt::format("{}", row.measurement.timing.count);
}

std::string mesh_text(const Row& row) { return row.spec->mesh_idx < 0 ? "-" : fmt::format("{}", row.spec->mesh_idx); }

/// `128/64`, with `-` for a parameter that this mapping of the grid lacks.
std::string values_text(const Spec& spec, std::span<const std::string> names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    const Value* value = spec.find(name);
    texts.push_back(value == nullptr ? "-" : to_text(*value));
  }
  return fmt::format("{}", fmt::join(texts, "/"));
}

/// The table's columns in one form.
class Columns {
 public:
  Columns(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional, Form form)
      : summary_(&summary), rows_(&rows), optional_(optional), form_(form) {}

  std::vector<TableColumn> make() {
    add(Part::other, "mesh_idx", mesh_text, 1);
    const bool values_only = form_.values_only && !summary_->varying.empty();
    add(
        Part::name, values_only ? fmt::format("{}", fmt::join(summary_->varying, "/")) : "name",
        [this](const Row& row) { return name_of(row); }, 1);
    if (any_named_otherwise(summary_->trials, summary_->name))
      add(Part::other, kReportedName, [](const Row& row) { return row.measurement.name; });
    add(Part::other, "met (ms)", [this](const Row& row) { return figure(row.measurement.timing.median * 1e3); });
    if (form_.iters) add(Part::other, "iters", iters_text);
    add_figures();
    if (optional_.other_state)
      add(Part::other_state, fmt::format("{} ms", to_text(summary_->other_state)),
          [this](const Row& row) { return other_state_text(row); });
    add(Part::spread, "+- %", [](const Row& row) { return spread_text(row.measurement.timing); });
    for (const RankedBaseline& baseline : summary_->ranking.baselines)
      if (baseline.standing)
        add(Part::ratio, "x " + baseline.label, [&](const Row& row) { return ratio_text(row, *baseline.standing); });
    if (optional_.note) add(Part::note, "note", note_text);
    return std::move(columns_);
  }

 private:
  template <class Text>
  void add(Part part, std::string title, Text text, std::size_t gap = 2) {
    TableColumn column{part, {std::move(title), gap, {}}};
    for (const Row& row : *rows_) column.grid.cells.push_back(text(row));
    columns_.push_back(std::move(column));
  }

  void add_figures() {
    bool first = true;
    for (const Column& column : summary_->columns) {
      if (!column.in_table) continue;
      const bool kept = std::exchange(first, false) || column.objective;
      add(kept ? Part::figure : Part::lesser_figure,
          form_.long_titles || column.unit.empty() ? column.name : column.unit,
          [&](const Row& row) { return figure(column.value(*row.spec, row.measurement)); });
    }
  }

  std::string name_of(const Row& row) const {
    if (!row.label.empty()) return row.label;
    if (form_.values_only && !summary_->varying.empty()) return values_text(*row.spec, summary_->varying);
    const std::string settings = settings_text(*row.spec, summary_->varying);
    if (settings.empty()) return summary_->name;
    return form_.run_name ? summary_->name + "/" + settings : settings;
  }

  std::string figure(double value) const { return summary_->width > 0 ? four_digits(value) : six_decimals(value); }

  std::string ratio_text(const Row& row, const Standing& baseline) const {
    if (!row.standing) return "-";
    const double ratio = baseline.ratio / row.standing->ratio;
    return summary_->width > 0 ? four_digits(ratio) : fmt::format("{:.3f}", ratio);
  }

  std::string other_state_text(const Row& row) const {
    return figure(row.standing ? row.standing->other_state_seconds.value_or(std::nan("")) * 1e3 : std::nan(""));
  }

  const Summary* summary_;
  const std::vector<Row>* rows_;
  OptionalColumns optional_;
  Form form_;
  std::vector<TableColumn> columns_;
};

std::vector<GridColumn> grid_of(const std::vector<TableColumn>& columns) {
  std::vector<GridColumn> grid;
  for (const TableColumn& column : columns) grid.push_back(column.grid);
  return grid;
}

std::size_t total_width(const std::vector<TableColumn>& columns) { return grid_width(grid_of(columns)); }

/// Removes the last column of this part; returns false if there is none.
bool drop_last(std::vector<TableColumn>& columns, Part part) {
  const auto last = std::find_if(columns.rbegin(), columns.rend(), [part](const auto& c) { return c.part == part; });
  if (last == columns.rend()) return false;
  columns.erase(std::next(last).base());
  return true;
}

GridColumn& names_of(std::vector<TableColumn>& columns) {
  return std::ranges::find(columns, Part::name, &TableColumn::part)->grid;
}

/// Gives the names this title, or as much of it as fits, but leaves it as wide as they are.
void fit_title(std::vector<TableColumn>& columns, const std::string& title, std::size_t room) {
  GridColumn& names = names_of(columns);
  names.title = title;
  const std::size_t width = total_width(columns), own = width_of(title);
  if (width <= room) return;
  std::size_t widest = kShortestName;
  for (const std::string& cell : names.cells) widest = std::max(widest, width_of(cell));
  names.title = cut_to(title, std::max(own - std::min(own, width - room), widest));
}

void cut_names(std::vector<TableColumn>& columns, std::size_t room) {
  GridColumn& names = names_of(columns);
  const std::size_t own = grid_width(std::vector{names}) - names.gap, excess = total_width(columns) - room;
  if (own < excess + kShortestName) {
    drop_last(columns, Part::name);
    return;
  }
  names.title = cut_to(names.title, own - excess);
  for (std::string& cell : names.cells) cell = cut_to(cell, own - excess);
}

}  // namespace

OptionalColumns needed_columns(const std::vector<Row>& rows) {
  const auto has_other_state = [](const Row& row) { return row.standing && row.standing->other_state_seconds; };
  const auto has_note = [](const Row& row) { return !note_text(row).empty(); };
  return {std::ranges::any_of(rows, has_other_state), std::ranges::any_of(rows, has_note)};
}

std::vector<GridColumn> table_columns(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional) {
  const auto room = static_cast<std::size_t>(summary.width);
  std::vector<TableColumn> columns;
  for (const Form& form : kForms) {
    columns = Columns(summary, rows, optional, form).make();
    if (room == 0 || total_width(columns) <= room) return grid_of(columns);
  }
  const std::string title = names_of(columns).title;
  fit_title(columns, title, room);
  for (const Part part : {Part::other_state, Part::lesser_figure, Part::spread, Part::ratio, Part::figure, Part::note})
    while (total_width(columns) > room && drop_last(columns, part)) continue;
  if (total_width(columns) > room)
    cut_names(columns, room);
  else
    fit_title(columns, title, room);
  return grid_of(columns);
}

}  // namespace tune::report

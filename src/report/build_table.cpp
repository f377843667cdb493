#include "report/build_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/csv.h"
#include "report/grid.h"
#include "report/text.h"

namespace tune::report {
namespace {

constexpr const char* kDynamic = "dynamic";
constexpr const char* kOccupancy = "occupancy";
constexpr std::array kFigures = {"registers", "spills", "shared", kDynamic, kOccupancy, "code", "stack"};

std::optional<double> figure(const BuildRow& row, const std::string& name) {
  if (name == kDynamic) {
    const bool built = !row.info.properties.empty();
    return built && row.dynamic ? std::optional(static_cast<double>(*row.dynamic)) : std::nullopt;
  }
  const auto found = row.info.properties.find(name);
  return found == row.info.properties.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> names_in(const Spec& spec) {
  std::vector<std::string> names;
  for (const Setting& setting : spec.params) names.push_back(setting.name);
  return names;
}

/// A row of a CSV file.
class Line {
 public:
  void add(std::string_view text) { text_ += quoted(text) + ','; }
  void add(std::optional<double> number) { add(number ? fmt::format("{:.9g}", *number) : std::string()); }
  std::string end() {
    text_.back() = '\n';
    return std::move(text_);
  }

 private:
  std::string text_;
};

Line begun(const std::string& name, const char* status, const Spec& spec, std::span<const std::string> params) {
  Line line;
  line.add(std::to_string(spec.mesh_idx));
  line.add(name);
  line.add(status);
  for (const std::string& param : params) {
    const Value* value = spec.find(param);
    line.add(value != nullptr ? to_text(*value) : "");
  }
  return line;
}

const char* status_of(const BuildRow& row) {
  if (!row.loss) return "built";
  return std::holds_alternative<Failure>(*row.loss) ? "failed" : "pruned after build";
}

std::array<std::string, 3> why(const BuildRow& row) {
  if (!row.loss) return {};
  if (const auto* pruned = std::get_if<PrunedAfterBuild>(&*row.loss)) return {"", "", pruned->reason};
  const Failure& failure = std::get<Failure>(*row.loss);
  return {std::string(to_text(failure.stage)), std::string(to_text(failure.cause)), failure.headline()};
}

}  // namespace

std::string build_table(std::span<const BuildRow> rows) {
  GridColumn numbers{"mesh_idx", 1, {}}, names{"name", 1, {}};
  std::vector<const BuildRow*> valid;
  for (const BuildRow& row : rows)
    if (!row.loss) valid.push_back(&row);
  if (valid.empty()) return "";
  for (const BuildRow* row : valid) {
    numbers.cells.push_back(std::to_string(row->spec.mesh_idx));
    names.cells.push_back(settings_text(row->spec, names_in(row->spec)));
  }
  std::vector<GridColumn> columns = {std::move(numbers), std::move(names)};
  for (const std::string name : kFigures) {
    if (std::ranges::none_of(valid, [&](const BuildRow* row) { return figure(*row, name).has_value(); })) continue;
    const bool share = name == kOccupancy;
    GridColumn& column = columns.emplace_back(GridColumn{share ? name + " %" : name, 2, {}});
    for (const BuildRow* row : valid) {
      const auto value = figure(*row, name);
      column.cells.push_back(!value  ? "-"
                             : share ? fmt::format("{:.0f}", 100 * *value)
                                     : fmt::format("{:.0f}", *value));
    }
  }
  return grid_text(columns);
}

std::string build_figures(const BuildRow& row) {
  const auto registers = figure(row, "registers"), share = figure(row, kOccupancy);
  if (!registers) return "";
  const double shared = figure(row, "shared").value_or(0) + figure(row, kDynamic).value_or(0);
  return fmt::format("{:.0f} registers, {:.0f} spills, {:.0f} bytes shared{}", *registers,
                     figure(row, "spills").value_or(0), shared,
                     share ? fmt::format(", occupancy {:.0f} %", 100 * *share) : "");
}

std::string build_csv(const std::string& name, std::span<const std::string> params, std::span<const BuildRow> rows,
                      std::span<const Rejection> pruned) {
  Line header;
  for (const char* title : {"mesh_idx", "name", "status"}) header.add(title);
  for (const std::string& param : params) header.add(param);
  for (const char* title : kFigures) header.add(title);
  for (const char* title : {"stage", "cause", "reason"}) header.add(title);
  std::string text = header.end();
  for (const BuildRow& row : rows) {
    Line line = begun(name, status_of(row), row.spec, params);
    for (const char* title : kFigures) line.add(figure(row, title));
    for (const std::string& part : why(row)) line.add(part);
    text += line.end();
  }
  for (const Rejection& rejection : pruned) {
    Line line = begun(name, "pruned", rejection.point, params);
    for (std::size_t i = 0; i < kFigures.size() + 2; ++i) line.add("");
    line.add(rejection.reason);
    text += line.end();
  }
  return text;
}

}  // namespace tune::report

#include "report/build_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "report/csv.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"

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

/// When a figure leaves a table that is too wide.
int step_of(const std::string& name) {
  constexpr std::array kOrder = {kDynamic, "shared", "stack", "code", "spills", kOccupancy, "registers"};
  return static_cast<int>(std::ranges::find(kOrder, name) - kOrder.begin()) + 1;
}

std::string figure_text(const BuildRow& row, const std::string& name) {
  const auto value = figure(row, name);
  return value ? fmt::format("{:.0f}", (name == kOccupancy ? 100 : 1) * *value) : "-";
}

std::vector<FittedColumn> all_columns(const std::vector<const BuildRow*>& rows, const ListLook& look,
                                      bool values_only) {
  FittedColumn numbers{0, false, {"mesh_idx", 1, {}}}, names{0, true, {"name", 1, {}}};
  if (values_only) names.grid.title = fmt::format("{}", fmt::join(look.varying, "/"));
  for (const BuildRow* row : rows) {
    numbers.grid.cells.push_back(std::to_string(row->spec.mesh_idx));
    names.grid.cells.push_back(values_only ? values_text(row->spec, look.varying) : list_name(row->spec, look));
  }
  std::vector<FittedColumn> columns = {std::move(numbers), std::move(names)};
  for (const std::string name : kFigures) {
    if (std::ranges::none_of(rows, [&](const BuildRow* row) { return figure(*row, name).has_value(); })) continue;
    FittedColumn& column = columns.emplace_back();
    column = {step_of(name), false, {name == kOccupancy ? name + " %" : name, 2, {}}};
    for (const BuildRow* row : rows) column.grid.cells.push_back(figure_text(*row, name));
  }
  return columns;
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

constexpr std::size_t kNumberWidth = 10;  ///< of a mesh_idx and the blank behind it
constexpr std::size_t kBeforeFigures = 2;

/// How wide a name of these parameters can become: `BM=128/BN=64`.
std::size_t longest_name(const Space& space, const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const Space::Mapping& mapping : space.mappings()) {
    std::size_t width = 0;
    for (const Parameter& parameter : mapping.parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) continue;
      std::size_t widest = 0;
      for (const Value& value : parameter.values) widest = std::max(widest, width_of(to_text(value)));
      width += width_of(parameter.name) + 1 + widest + (width > 0 ? 1 : 0);
    }
    longest = std::max(longest, width);
  }
  return longest;
}

/// What a build on a GPU tells, on one line: `42 registers, 0 spills, 2304 bytes shared, occupancy 62 %`, or, where
/// that does not fit into `room` columns, as much of it as does. Empty if it tells nothing.
std::string build_figures(const BuildRow& row, std::size_t room = std::string::npos) {
  const auto registers = figure(row, "registers"), share = figure(row, kOccupancy);
  if (!registers) return "";
  const double shared = figure(row, "shared").value_or(0) + figure(row, kDynamic).value_or(0);
  std::string text = fmt::format("{:.0f} registers", *registers);
  std::vector<std::string> others = {fmt::format("{:.0f} spills", figure(row, "spills").value_or(0)),
                                     fmt::format("{:.0f} bytes shared", shared)};
  if (share) others.push_back(fmt::format("occupancy {:.0f} %", 100 * *share));
  if (text.size() > room) return "";
  for (const std::string& other : others)
    if (text.size() + other.size() + 2 <= room) text += ", " + other;
  return text;
}

}  // namespace

std::string list_name(const Spec& spec, const ListLook& look) {
  if (look.width > 0) return look.varying.empty() ? look.name : settings_text(spec, look.varying);
  std::vector<std::string> names;
  for (const Setting& setting : spec.params) names.push_back(setting.name);
  return settings_text(spec, names);
}

std::string constants_text(const Spec& spec, const ListLook& look) {
  if (look.width == 0) return "";
  std::vector<std::string> texts;
  for (const Setting& setting : spec.params)
    if (std::ranges::find(look.varying, setting.name) == look.varying.end())
      texts.push_back(setting.name + "=" + to_text(setting.value));
  return texts.empty() ? "" : fmt::format("in all specs: {}\n", fmt::join(texts, ", "));
}

std::vector<GridColumn> build_columns(std::span<const BuildRow> rows, const ListLook& look) {
  std::vector<const BuildRow*> valid;
  for (const BuildRow& row : rows)
    if (!row.loss) valid.push_back(&row);
  if (valid.empty()) return {};
  const auto room = static_cast<std::size_t>(look.width);
  std::vector<FittedColumn> columns = all_columns(valid, look, false);
  if (room > 0 && width_of_table(columns) > room && !look.varying.empty()) columns = all_columns(valid, look, true);
  return fitted(std::move(columns), room).columns;
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

std::size_t SpecList::room_for_name() const {
  const auto width = static_cast<std::size_t>(look_.width);
  return look_.width == 0 ? std::string::npos : width - std::min(width, kNumberWidth);
}

std::string SpecList::begin(const BuildRow& first) {
  begun_ = true;
  in_all_ = constants_text(first.spec, look_);
  const std::size_t figures = width_of(build_figures(first));
  const std::size_t needed = longest_name(*space_, look_.varying) + (figures > 0 ? kBeforeFigures + figures : 0);
  values_only_ = needed > room_for_name() && !look_.varying.empty();
  if (!values_only_) return "";
  const std::string title = printable(fmt::format("{}", fmt::join(look_.varying, "/")), std::string::npos);
  return fmt::format(" mesh_idx {}\n", cut_to(title, room_for_name()));
}

std::string SpecList::add(const BuildRow& row) {
  std::string text = begun_ ? "" : begin(row);
  const std::string name = values_only_ ? values_text(row.spec, look_.varying) : list_name(row.spec, look_);
  const std::string shown = cut_to(printable(name, name.size()), room_for_name());
  const std::size_t taken = width_of(shown) + kBeforeFigures;
  const std::string figures = room_for_name() > taken ? build_figures(row, room_for_name() - taken) : "";
  text += fmt::format("{:>9} {}", row.spec.mesh_idx, shown);
  return text + (figures.empty() ? "" : std::string(kBeforeFigures, ' ') + figures) + "\n";
}

}  // namespace tune::report

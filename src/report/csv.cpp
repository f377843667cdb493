#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>

namespace tune::report {

/// What the cells of a row are made of.
struct CsvCells {
  const std::string& run;
  const Spec& spec;
  std::string_view status;
  const Measurement* measured = nullptr;  ///< null: it was not
  std::string_view stage = {}, cause = {}, reason = {};
  CsvPlace place = {};
};

namespace {

std::string_view line_of(std::string_view message) { return message.substr(0, message.find('\n')); }

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }
std::string number_above_zero(double value) { return value > 0 ? number(value) : ""; }

/// A column that is the same in all runs, or in those with an extra.
struct FixedColumn {
  enum class Where { before_parameters, before_metrics, behind_metrics } where;
  const char* title;
  std::string (*text)(const CsvCells&, const CsvExtras&);
  bool (*in_file)(const CsvExtras&) = [](const CsvExtras&) { return true; };
};

template <double (*seconds)(const Timing&)>
std::string milliseconds(const CsvCells& cells, const CsvExtras&) {
  return cells.measured ? number_above_zero(seconds(cells.measured->timing) * 1e3) : "";
}

using enum FixedColumn::Where;
constexpr FixedColumn kFixed[] = {
    {before_parameters, "mesh_idx", [](auto& cells, auto&) { return fmt::format("{}", cells.spec.mesh_idx); }},
    {before_parameters, "name", [](auto& cells, auto&) { return cells.run; }},
    {before_parameters, "status", [](auto& cells, auto&) { return std::string(cells.status); }},
    {before_metrics, "met (ms)", milliseconds<[](const Timing& timing) { return timing.typical(); }>},
    {before_metrics, "min (ms)", milliseconds<[](const Timing& timing) { return timing.min; }>},
    {before_metrics, "mean (ms)", milliseconds<[](const Timing& timing) { return timing.mean; }>},
    {before_metrics, "p95 (ms)", milliseconds<[](const Timing& timing) { return timing.p95; }>},
    {before_metrics, "ci_low (ms)", milliseconds<[](const Timing& timing) { return timing.ci_low; }>},
    {before_metrics, "ci_high (ms)", milliseconds<[](const Timing& timing) { return timing.ci_high; }>},
    {before_metrics, "iters",
     [](auto& cells, auto&) { return cells.measured ? fmt::format("{}", cells.measured->timing.count) : ""; }},
    {before_metrics, "checked",
     [](auto& cells, auto&) -> std::string { return !cells.measured           ? ""
                                                    : cells.measured->checked ? "yes"
                                                                              : "no"; }},
    {before_metrics, "max_error",
     [](auto& cells, auto&) {
       return cells.measured && cells.measured->checked ? number(cells.measured->max_error) : "";
     }},
    {behind_metrics, "stage", [](auto& cells, auto&) { return std::string(cells.stage); }},
    {behind_metrics, "cause", [](auto& cells, auto&) { return std::string(cells.cause); }},
    {behind_metrics, "reason", [](auto& cells, auto&) { return std::string(cells.reason); }},
    {behind_metrics, "device", [](auto& cells, auto&) { return cells.measured ? cells.measured->device : ""; },
     [](auto& extras) { return extras.several_devices; }},
    {behind_metrics, "scaled", [](auto& cells, auto&) { return cells.measured ? number(cells.measured->scaled) : ""; },
     [](auto& extras) { return extras.several_devices; }},
    {behind_metrics, "place",
     [](auto& cells, auto&) { return cells.place.place > 0 ? fmt::format("{}", cells.place.place) : ""; },
     [](auto& extras) { return extras.tuned; }},
    {behind_metrics, "finals (ms)",
     [](auto& cells, auto&) { return number_above_zero(cells.place.finals_seconds * 1e3); },
     [](auto& extras) { return extras.tuned; }},
    {behind_metrics, "process",
     [](auto& cells, auto&) -> std::string { return !cells.measured          ? ""
                                                    : cells.measured->shared ? "shared"
                                                                             : "own"; },
     [](auto& extras) { return extras.shared_processes; }},
    {behind_metrics, "finals", [](auto&, auto&) { return std::string("interrupted"); },
     [](auto& extras) { return extras.finals_interrupted; }},
    {behind_metrics, kReportedName, [](auto& cells, auto&) { return cells.measured ? cells.measured->name : ""; },
     [](auto& extras) { return extras.reported_names; }},
    {behind_metrics, "statistic", [](auto& cells, auto& extras) { return cells.measured ? to_text(extras.time) : ""; },
     [](auto& extras) { return extras.time != TimeRule(); }},
};

}  // namespace

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

bool is_fixed_column(std::string_view name) {
  return name != kReportedName && std::ranges::any_of(kFixed, [&](const FixedColumn& c) { return c.title == name; });
}

Csv::Csv(std::ostream& out, std::string name, std::vector<std::string> params, std::vector<Column> columns,
         CsvExtras extras)
    : out_(out), name_(std::move(name)), params_(std::move(params)), columns_(std::move(columns)), extras_(extras) {
  const auto titles = [&](FixedColumn::Where where) {
    for (const FixedColumn& column : kFixed)
      if (column.where == where && column.in_file(extras_)) cell(column.title);
  };
  titles(before_parameters);
  for (const std::string& param : params_) cell(param);
  titles(before_metrics);
  for (const Column& column : columns_) cell(column.name);
  titles(behind_metrics);
  end_row();
}

void Csv::add(const Trial& trial, std::string_view unranked, CsvPlace place) {
  if (const Measurement* measurement = trial.measurement())
    add({name_,
         trial.spec,
         measurement->timing.stopped_early ? "early" : "ok",
         measurement,
         {},
         {},
         line_of(unranked),
         place});
  else if (const Failure* failure = trial.failure())
    add({name_, trial.spec, "failed", nullptr, to_text(failure->stage), to_text(failure->cause),
         line_of(failure->message), place});
  else
    add({name_,
         trial.spec,
         "pruned after build",
         nullptr,
         {},
         {},
         std::get<PrunedAfterBuild>(trial.outcome).reason,
         place});
}

void Csv::add_pruned(const Spec& spec, std::string_view reason) {
  add({name_, spec, "pruned", nullptr, {}, {}, reason});
}

void Csv::add(const CsvCells& cells) {
  const auto fixed = [&](FixedColumn::Where where) {
    for (const FixedColumn& column : kFixed)
      if (column.where == where && column.in_file(extras_)) cell(column.text(cells, extras_));
  };
  fixed(before_parameters);
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Value* value = cells.spec.find(params_[i], i);
    cell(value ? to_text(*value) : "");
  }
  fixed(before_metrics);
  for (const Column& column : columns_) cell(cells.measured ? number(column.value(cells.spec, *cells.measured)) : "");
  fixed(behind_metrics);
  end_row();
}

void Csv::cell(std::string_view text) {
  row_ += quoted(text);
  row_ += ',';
}

void Csv::end_row() {
  row_.back() = '\n';
  out_ << row_;
  row_.clear();
}

}  // namespace tune::report

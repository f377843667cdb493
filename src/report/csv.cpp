#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>

namespace tune::report {
namespace {

constexpr const char* kFirst[] = {"mesh_idx", "name", "status"};
constexpr const char* kRun[] = {"iters", "checked", "max_error"};
constexpr const char* kWhy[] = {"stage", "cause", "reason"};
constexpr const char* kDevice[] = {"device", "scaled"};
constexpr const char* kProcess[] = {"process"};
constexpr const char* kInterrupted[] = {"finals"};
constexpr const char* kStatistic[] = {"statistic"};
constexpr const char* kTuned[] = {"place", "finals (ms)"};
constexpr const char* kTimes[] = {"met (ms)", "min (ms)", "mean (ms)", "p95 (ms)", "ci_low (ms)", "ci_high (ms)"};

std::string_view line_of(std::string_view message) { return message.substr(0, message.find('\n')); }

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
  const auto among = [&](const auto& titles) { return std::ranges::find(titles, name) != std::end(titles); };
  return among(kFirst) || among(kTimes) || among(kRun) || among(kWhy) || among(kDevice) || among(kTuned) ||
         among(kProcess) || among(kInterrupted) || among(kStatistic);
}

Csv::Csv(std::ostream& out, std::string name, std::vector<std::string> params, std::vector<Column> columns,
         CsvExtras extras)
    : out_(out), name_(std::move(name)), params_(std::move(params)), columns_(std::move(columns)), extras_(extras) {
  for (const char* title : kFirst) cell(title);
  for (const std::string& param : params_) cell(param);
  for (const char* title : kTimes) cell(title);
  for (const char* title : kRun) cell(title);
  for (const Column& column : columns_) cell(column.name);
  for (const char* title : kWhy) cell(title);
  if (extras_.several_devices)
    for (const char* title : kDevice) cell(title);
  if (extras_.tuned)
    for (const char* title : kTuned) cell(title);
  if (extras_.shared_processes) cell(*kProcess);
  if (extras_.finals_interrupted) cell(*kInterrupted);
  if (extras_.reported_names) cell(kReportedName);
  if (extras_.time != TimeRule()) cell(*kStatistic);
  end_row();
}

void Csv::add(const Trial& trial, std::string_view unranked, CsvPlace place) {
  if (const Measurement* measurement = trial.measurement()) {
    begin_row(trial.spec, measurement->timing.stopped_early ? "early" : "ok");
    add_measured(trial.spec, *measurement, unranked);
  } else if (const Failure* failure = trial.failure()) {
    begin_row(trial.spec, "failed");
    add_unmeasured(to_text(failure->stage), to_text(failure->cause), line_of(failure->message));
  } else {
    begin_row(trial.spec, "pruned after build");
    add_unmeasured("", "", std::get<PrunedAfterBuild>(trial.outcome).reason);
  }
  add_extras(trial.measurement(), place);
  end_row();
}

void Csv::add_pruned(const Spec& spec, std::string_view reason) {
  begin_row(spec, "pruned");
  add_unmeasured("", "", reason);
  add_extras(nullptr, {});
  end_row();
}

void Csv::begin_row(const Spec& spec, std::string_view status) {
  cell(fmt::format("{}", spec.mesh_idx));
  cell(name_);
  cell(status);
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Value* value = spec.find(params_[i], i);
    cell(value ? to_text(*value) : "");
  }
}

void Csv::add_measured(const Spec& spec, const Measurement& measurement, std::string_view unranked) {
  const Timing& timing = measurement.timing;
  for (const double seconds : {timing.typical(), timing.min, timing.mean, timing.p95, timing.ci_low, timing.ci_high}) {
    cell(seconds > 0 ? seconds * 1e3 : std::nan(""));
  }
  cell(fmt::format("{}", timing.count));
  cell(measurement.checked ? "yes" : "no");
  if (measurement.checked) {
    cell(measurement.max_error);
  } else {
    cell("");
  }
  for (const Column& column : columns_) cell(column.value(spec, measurement));
  for (int i = 0; i < 2; ++i) cell("");
  cell(line_of(unranked));
}

void Csv::add_unmeasured(std::string_view stage, std::string_view cause, std::string_view reason) {
  const std::size_t unknown = std::size(kTimes) + 3 + columns_.size();
  for (std::size_t i = 0; i < unknown; ++i) cell("");
  cell(stage);
  cell(cause);
  cell(reason);
}

void Csv::add_extras(const Measurement* measurement, CsvPlace place) {
  if (extras_.several_devices) {
    cell(measurement ? measurement->device : "");
    cell(measurement ? measurement->scaled : std::nan(""));
  }
  if (extras_.tuned) {
    cell(place.place > 0 ? fmt::format("{}", place.place) : "");
    cell(place.finals_seconds > 0 ? place.finals_seconds * 1e3 : std::nan(""));
  }
  if (extras_.shared_processes) cell(!measurement ? "" : measurement->shared ? "shared" : "own");
  if (extras_.finals_interrupted) cell("interrupted");
  if (extras_.reported_names) cell(measurement ? measurement->name : "");
  if (extras_.time != TimeRule()) cell(measurement ? to_text(extras_.time) : "");
}

void Csv::cell(std::string_view text) {
  row_ += quoted(text);
  row_ += ',';
}

void Csv::cell(double value) { cell(std::isfinite(value) ? fmt::format("{:.9g}", value) : ""); }

void Csv::end_row() {
  row_.back() = '\n';
  out_ << row_;
  row_.clear();
}

}  // namespace tune::report

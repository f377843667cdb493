#include "config/reader/recorded_result.h"

#include "config/yaml/fields.h"
#include "model/plan.h"
#include "model/values/text.h"

namespace tune::config {
namespace {

const Node* find(const Node& root, std::string_view section, std::string_view key) {
  const Node* mapping = root.find(section);
  return mapping != nullptr && mapping->is_mapping() ? mapping->find(key) : nullptr;
}

std::string text_at(const Node& root, std::string_view section, std::string_view key) {
  const Node* node = find(root, section, key);
  return node != nullptr && node->is_scalar() ? node->text : "";
}

std::optional<double> read_seconds(const Node& node, const char* what, Diagnostics& diagnostics) {
  const auto milliseconds = read_number(node, what, diagnostics);
  if (!milliseconds) return std::nullopt;
  if (const double seconds = *milliseconds / 1e3; is_valid_time(seconds)) return seconds;
  diagnostics.add(node.place, std::string(what) + " must be above 0; remove result: if it is not to be compared with");
  return std::nullopt;
}

std::optional<Interval> read_interval(const Node& node, Diagnostics& diagnostics) {
  constexpr const char* kWhat = "result: interval_ms";
  if (!node.is_list() || node.items.size() != 2) {
    diagnostics.add(node.place, std::string(kWhat) + " must be a list of two times, not " + describe(node));
    return std::nullopt;
  }
  const auto low = read_seconds(node.items[0], kWhat, diagnostics),
             high = read_seconds(node.items[1], kWhat, diagnostics);
  if (!low || !high) return std::nullopt;
  if (*low > *high) diagnostics.add(node.place, std::string(kWhat) + " must begin with the smaller time");
  return Interval{*low, *high};
}

}  // namespace

std::optional<RecordedResult> read_result(const Node& root, Diagnostics& diagnostics) {
  const Node* time = find(root, "result", "time_ms");
  if (time == nullptr) return std::nullopt;
  const auto seconds = read_seconds(*time, "result: time_ms", diagnostics);
  if (!seconds) return std::nullopt;
  RecordedResult result;
  result.time.seconds = *seconds;
  if (const Node* interval = find(root, "result", "interval_ms"))
    result.time.interval = read_interval(*interval, diagnostics);
  if (const Node* launches = find(root, "result", "launches"))
    result.launches = read_integer(*launches, "result: launches", diagnostics).value_or(0);
  if (const Node* figures = find(root, "result", "figures"); figures != nullptr && figures->is_mapping())
    for (const auto& [name, value] : figures->entries)
      if (const auto number = number_from<double>(value.text)) result.figures[name.text] = *number;
  result.artifact_hash = text_at(root, "result", "artifact");
  result.store_path = text_at(root, "result", "store_path");
  if (const std::string statistic = text_at(root, "result", "sweep_statistic"); !statistic.empty())
    result.statistic = statistic;
  result.device = text_at(root, "device", "name");
  result.driver = text_at(root, "device", "driver");
  result.arch = text_at(root, "device", "arch");
  result.compiler = text_at(root, "device", "compiler");
  result.state = parse_power_state(text_at(root, "measure", "state")).value_or(MeasureRules().state);
  return result;
}

}  // namespace tune::config

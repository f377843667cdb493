#include "config/reader/objective_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/yaml/fields.h"
#include "model/statistics/objective.h"
#include "model/values/error.h"

namespace tune::config {

std::vector<std::string> read_objectives(const Node* node, const ObjectiveContext& context, Diagnostics& diagnostics) {
  std::vector<std::string> known = {"time", "gflops", "gflops_per_watt", "energy", "edp", "ed2p"};
  for (const Metric& metric : context.metrics) known.push_back(metric.name);
  known.insert(known.end(), context.figures.begin(), context.figures.end());
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<std::string> objectives;
  const auto add = [&](const std::string& written, const auto& complain) {
    const std::string name = context.any_column && !context.has_flops ? written : objective_named(written, known);
    const std::string advice = did_you_mean(written, known);
    if (!contains(known, name) && !(context.any_column && advice.empty()))
      complain(fmt::format(
          "unknown objective '{}'{}", written,
          advice.empty() ? fmt::format("; known are {}; metrics may declare others", fmt::join(known, ", ")) : advice));
    else if (contains(objectives, name))
      complain(fmt::format("the objective '{}' stands twice", written));
    else
      objectives.push_back(name);
  };
  if (node != nullptr && node->is_list() && node->items.empty())
    diagnostics.add(node->place, "objective is an empty list; name one, such as time, or remove it");
  for (const std::string& name : context.asked)
    add(name, [](const std::string& text) { throw Error(ExitCode::bad_input, "--objective: " + text); });
  if (node != nullptr && context.asked.empty())
    for (const Node* item : as_list(*node))
      if (const auto name = read_text(*item, "objective", diagnostics))
        add(*name, [&](const std::string& text) { diagnostics.add(item->place, text); });
  return objectives;
}

}  // namespace tune::config

#include "database/database_best.h"

#include <fmt/format.h>

#include "config/reader/problem_reader.h"
#include "config/reader/recorded_result.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "model/statistics/objective.h"

namespace tune::database {
namespace {

std::string text_of(const config::Node* node) { return node != nullptr && node->is_scalar() ? node->text : ""; }

const config::Node* find_in(const config::Node& root, std::string_view section, std::string_view key) {
  const config::Node* mapping = root.find(section);
  return mapping != nullptr ? mapping->find(key) : nullptr;
}

/// Results are compared by their times.
void require_time(const config::Node& root, config::Diagnostics& diagnostics) {
  const config::Node* node = root.find("objective");
  if (node == nullptr || config::as_list(*node).empty()) return;
  const std::string name = objective_named(text_of(config::as_list(*node).front()), {});
  if (name != "time" && name != "gflops")
    diagnostics.add(node->place,
                    fmt::format("the objective is '{}'; a database keeps the results with the shortest times, "
                                "so tune by time for it",
                                name));
}

/// A problem's buffers and expressions are read and then left out.
config::ProblemSection problem_of(const config::Node& root, config::Diagnostics& diagnostics) {
  config::SymbolTable scope(diagnostics);
  const config::Node* node = root.find("problem");
  return node != nullptr ? config::read_problem(*node, scope, diagnostics) : config::ProblemSection();
}

std::vector<std::pair<std::string, double>> ratios_of(const config::Node& root, config::Diagnostics& diagnostics) {
  std::vector<std::pair<std::string, double>> ratios;
  const config::Node* node = find_in(root, "result", "ratio_to_best");
  if (node == nullptr) return ratios;
  for (const config::Entry& entry : node->entries)
    if (const auto ratio = config::read_number(entry.value, "result: ratio_to_best", diagnostics))
      ratios.emplace_back(entry.key.text, *ratio);
  return ratios;
}

}  // namespace

std::pair<ResultKey, TunedResult> read_best_result(const config::Node& root, config::Diagnostics& diagnostics) {
  ResultKey key;
  TunedResult result;
  const auto recorded = config::read_result(root, diagnostics);
  const config::Node *name = root.find("name"), *params = root.find("params");
  if (!recorded || name == nullptr || params == nullptr || recorded->device.empty()) {
    diagnostics.add(
        root.place,
        "this is neither a database nor the best YAML of a tuning, which has name:, params:, result: and device:; "
        "write one with tune --tune --output PREFIX");
    return {key, result};
  }
  require_time(root, diagnostics);
  result.params = config::read_settings(*params, "params", {}, diagnostics);
  const config::ProblemSection problem = problem_of(root, diagnostics);
  set_problem(key, problem.problem, problem.constants, result.params);
  key.group.kernel = text_of(name);
  key.group.backend = root.find("backend") != nullptr ? text_of(root.find("backend")) : "program";
  if (const config::Node* run = root.find("run"); run != nullptr && root.find("file") == nullptr) {
    std::string words;
    for (const config::Node* word : config::as_list(*run)) words += (words.empty() ? "" : " ") + text_of(word);
    key.group.problem["run"] = words;
  }
  key.group.state = to_text(recorded->state);
  key.group.device = {recorded->device, recorded->arch, recorded->driver, recorded->compiler,
                      text_of(find_in(root, "device", "vendor_library"))};
  key.group.source = text_of(find_in(root, "result", "source"));
  result.time = recorded->time;
  result.checked = text_of(find_in(root, "result", "checked")) == "yes";
  result.finals_interrupted = find_in(root, "result", "finals") != nullptr;
  result.ratios = ratios_of(root, diagnostics);
  result.artifact_hash = recorded->artifact_hash;
  result.store_path = text_of(find_in(root, "result", "store_path"));
  result.code = text_of(find_in(root, "result", "code"));
  return {key, result};
}

}  // namespace tune::database

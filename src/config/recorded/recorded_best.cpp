#include "config/recorded/recorded_best.h"

#include <algorithm>

#include "config/reader/problem_reader.h"
#include "config/yaml/fields.h"
#include "config/yaml/params.h"
#include "model/problem_size.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

constexpr const char* kWhatIsCompared =
    "; a result is compared with the YAML file that a run with --tune has written (PREFIX.yaml), with a journal "
    "(.jsonl) or with a CSV file";

Spec read_only_spec(const Node& root, const Node& params, Diagnostics& diagnostics) {
  const std::vector<ParameterMapping> mappings = read_params(
      params, [](const std::string&) { return std::string(); }, [](const Parameter&) { return false; },
      Arithmetic::unquoted, diagnostics);
  const auto several = [](const Parameter& parameter) { return parameter.values.size() > 1; };
  Spec spec;
  if (mappings.size() != 1 || std::ranges::any_of(mappings.front().parameters, several)) {
    diagnostics.add(root.place, std::string("this file has a grid, and no result of one spec") + kWhatIsCompared);
    return spec;
  }
  for (const Parameter& parameter : mappings.front().parameters)
    if (!parameter.values.empty())
      spec.params.push_back({parameter.name, parameter.values.front(), parameter.run_time});
  return spec;
}

std::string recorded_problem(const Node& root, Diagnostics& diagnostics) {
  const Node* node = root.find("problem");
  if (node == nullptr) return "";
  SymbolTable scope(diagnostics);
  const ProblemSection section = read_problem(*node, scope, diagnostics);
  return problem_size_text(section.problem, section.constants);
}

}  // namespace

RecordedBest read_best(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const Node root = read_yaml(path, diagnostics);
  const Node* name = root.is_mapping() ? root.find("name") : nullptr;
  const Node* params = root.is_mapping() ? root.find("params") : nullptr;
  if (name == nullptr || params == nullptr)
    throw Error(ExitCode::bad_input, path.string() + ": this is no result of tune" + kWhatIsCompared);
  RecordedBest best;
  best.kernel = read_text(*name, "name", diagnostics).value_or("");
  best.spec = read_only_spec(root, *params, diagnostics);
  best.problem = recorded_problem(root, diagnostics);
  if (auto result = read_result(root, diagnostics))
    best.result = std::move(*result);
  else
    diagnostics.add(root.place, std::string("there is no result: with a time_ms: in it") + kWhatIsCompared);
  diagnostics.throw_if_any();
  return best;
}

}  // namespace tune::config

#include "config/reader/problem_reader.h"

#include <fmt/format.h>

#include "config/reader/custom_reader.h"
#include "config/reader/gemm_reader.h"
#include "config/yaml/fields.h"

namespace tune::config {
namespace {

ProblemSection gemm_section(const Gemm& gemm, SymbolTable& scope) {
  ProblemSection section{gemm, constants_of(gemm), {}, nullptr};
  for (const auto& [name, value] : section.constants) scope.add_constant(name, value);
  return section;
}

}  // namespace

ProblemSection read_problem(const Node& node, SymbolTable& scope, Diagnostics& diagnostics) {
  ProblemSection section;
  Fields fields(node, "problem", {"gemm", "custom"}, diagnostics);
  const Node *gemm = fields.find("gemm"), *custom = fields.find("custom");
  if (node.is_mapping() && (gemm != nullptr) == (custom != nullptr)) {
    diagnostics.add(node.place, "problem must be one of gemm: {m, n, k, ...} and custom: {buffers, ...}");
  }
  if (gemm == nullptr && custom == nullptr) return assume_gemm(scope);
  if (gemm != nullptr) return gemm_section(read_gemm(*gemm, diagnostics), scope);
  section.problem = read_custom(*custom, scope, section.constants, section.counts, diagnostics);
  section.reference = custom->find("reference");
  return section;
}

ProblemSection assume_gemm(SymbolTable& scope) { return gemm_section(Gemm{}, scope); }

std::vector<std::string> buffer_names(const Problem& problem) {
  std::vector<std::string> names;
  if (const Gemm* gemm = std::get_if<Gemm>(&problem)) {
    names = {"A", "B", "C"};
    if (gemm->bias != Bias::none) names.push_back("bias");
    if (gemm->residual) names.push_back("residual");
    if (gemm->scale_a != Scale::none) names.push_back("scale_a");
    if (gemm->scale_b != Scale::none) names.push_back("scale_b");
    if (gemm->groups() > 0) names.push_back(gemm->max_rows > 0 ? "group_rows" : "group_offsets");
  }
  if (const Custom* custom = std::get_if<Custom>(&problem)) {
    for (const Buffer& buffer : custom->buffers) names.push_back(buffer.name);
  }
  return names;
}

}  // namespace tune::config

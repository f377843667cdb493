#include "config/reader/problem_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/reader/problem_reader.h"
#include "model/values/text.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

constexpr std::array<std::string_view, 5> kTuneGemmNames = {"M", "N", "K", "rowMajorA", "rowMajorB"};

}  // namespace

ProblemEntries::ProblemEntries(Node& root, Diagnostics& diagnostics) : diagnostics_(&diagnostics) {
  Node* problem = root.find("problem");
  if (problem == nullptr) return;
  gemm_ = problem->find("gemm");
  custom_ = problem->find("custom");
}

bool ProblemEntries::set(const std::string& name, const std::string& text, const Place& place) {
  return set_gemm(name, to_text(parse_value(text)), place) || set_custom_size(name, text, place);
}

bool ProblemEntries::set_gemm(const std::string& name, const std::string& text, const Place& place) {
  if (gemm_ == nullptr) return false;
  const std::string key = gemm_key(name);
  if (name == "rowMajorA" || name == "rowMajorB")
    set_layout(name == "rowMajorA" ? "a" : "b", text, place);
  else if (!key.empty())
    gemm_->set(key, make_scalar(text, place));
  else
    return false;
  return true;
}

void ProblemEntries::set_layout(const std::string& matrix, const std::string& text, const Place& place) {
  if (text != "T" && text != "N") {
    diagnostics_->add(place, fmt::format("rowMajor is '{}'; it must be T (row-major) or N", text));
  }
  if (gemm_->find("layout") == nullptr) gemm_->set("layout", make_mapping(place));
  gemm_->find("layout")->set(matrix, make_scalar(text == "T" ? "row" : "col", place));
}

bool ProblemEntries::set_custom_size(const std::string& name, const std::string& text, const Place& place) {
  Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr;
  if (sizes == nullptr || sizes->find(name) == nullptr) return false;
  sizes->set(name, make_scalar(text, place));
  return true;
}

std::vector<std::string> ProblemEntries::names() const {
  std::vector<std::string> names;
  if (custom_ == nullptr) names.assign(kTuneGemmNames.begin(), kTuneGemmNames.end());
  if (gemm_ != nullptr) names.insert(names.end(), kGemmKeys.begin(), kGemmKeys.end());
  if (const Node* sizes = custom_ != nullptr ? custom_->find("sizes") : nullptr)
    for (const Entry& entry : sizes->entries) names.push_back(entry.key.text);
  return names;
}

std::string ProblemEntries::gemm_key(const std::string& name) {
  if (name == "M" || name == "N" || name == "K") return lower_case(name);
  return std::ranges::find(kGemmKeys, name) != kGemmKeys.end() ? name : "";
}

bool ProblemEntries::is_name_of_tune_gemm(const std::string& name) {
  return std::ranges::find(kTuneGemmNames, name) != kTuneGemmNames.end();
}

}  // namespace tune::config

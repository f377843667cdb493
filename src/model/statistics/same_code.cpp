#include "model/statistics/same_code.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tune {
namespace {

const std::string& code_of(const Trial& trial) {
  static const std::string kUnknown;
  return trial.measurement() != nullptr ? trial.measurement()->build.code : kUnknown;
}

std::string without(const Spec& spec, const std::string& parameter) {
  std::string text;
  for (const Setting& setting : spec.params)
    if (setting.name != parameter) text += setting.name + '=' + to_text(setting.value) + '\n';
  return text;
}

bool is_idle(std::span<const Trial> trials, const std::string& parameter) {
  struct Kin {
    std::set<std::string> codes;  ///< of a spec that failed: an empty one
    std::set<std::string> values;
  };
  std::map<std::string, Kin> kins;
  for (const Trial& trial : trials) {
    const Value* value = trial.spec.find(parameter);
    if (value == nullptr || (code_of(trial).empty() && trial.failure() == nullptr)) continue;
    Kin& kin = kins[without(trial.spec, parameter)];
    kin.codes.insert(code_of(trial));
    kin.values.insert(to_text(*value));
  }
  bool compared = false;
  for (const auto& [others, kin] : kins) {
    if (kin.codes.size() > 1) return false;
    compared = compared || (kin.values.size() > 1 && !kin.codes.contains(""));
  }
  return compared;
}

}  // namespace

SameCode same_code(std::span<const Trial> trials, const std::optional<Spec>& default_spec) {
  std::map<std::string, std::vector<const Trial*>> groups;
  for (const Trial& trial : trials)
    if (!code_of(trial).empty()) groups[code_of(trial)].push_back(&trial);
  SameCode same;
  for (const auto& [code, group] : groups) {
    const Trial* first = *std::ranges::min_element(group, {}, [&](const Trial* trial) {
      return std::tuple(trial->measurement()->timing.stopped_early,
                        !(default_spec && default_spec->mesh_idx == trial->spec.mesh_idx), trial->spec.mesh_idx);
    });
    for (const Trial* trial : group)
      if (trial != first) same.emplace(trial->spec.mesh_idx, first->spec.mesh_idx);
  }
  return same;
}

std::vector<std::string> idle_parameters(std::span<const Trial> trials) {
  std::vector<std::string> names;
  for (const Trial& trial : trials)
    for (const Setting& setting : trial.spec.params)
      if (std::ranges::find(names, setting.name) == names.end()) names.push_back(setting.name);
  std::erase_if(names, [&](const std::string& name) { return !is_idle(trials, name); });
  return names;
}

}  // namespace tune

#include "model/settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tune {
namespace {

/// Whether one of them has this name and value.
bool has(const std::vector<Setting>& params, const Setting& setting) {
  return std::ranges::any_of(
      params, [&](const Setting& other) { return other.name == setting.name && other.value == setting.value; });
}

}  // namespace

std::vector<Setting> common_settings(std::span<const std::vector<Setting>* const> all) {
  std::vector<Setting> common = *all.front();
  std::size_t most = 0;
  for (const std::vector<Setting>* params : all) {
    std::erase_if(common, [params](const Setting& setting) { return !has(*params, setting); });
    most = std::max(most, params->size());
  }
  if (common.size() == most) common.clear();
  return common;
}

std::vector<Setting> without(std::vector<Setting> params, const std::vector<Setting>& common) {
  std::erase_if(params, [&common](const Setting& setting) { return has(common, setting); });
  return params;
}

std::string to_text(const std::vector<Setting>& params) {
  std::string text;
  for (const Setting& setting : params)
    text += fmt::format("{}{}{}={}", text.empty() ? "" : " ", setting.run_time ? "$" : "", setting.name,
                        to_text(setting.value));
  return text;
}

}  // namespace tune

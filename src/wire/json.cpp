#include "wire/json.h"

namespace tune {
namespace {

constexpr int kMaxDepth = 100;

/// What stands behind `[json.exception.NAME.ID] ` in the library's message.
std::string without_id(const std::string& what) {
  const auto end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

}  // namespace

bool is_too_deep(std::string_view json) {
  int depth = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

nlohmann::json parse_json(std::string_view text) {
  using nlohmann::json;
  return is_too_deep(text) ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
}

std::string fault_of(const nlohmann::json::exception& error) {
  constexpr int kWrongType = 302, kNoSuchIndex = 401, kNoSuchKey = 403;
  const std::string what = without_id(error.what());
  if (error.id == kNoSuchKey) return "the " + what.substr(0, what.rfind(" not found")) + " is missing";
  if (error.id == kNoSuchIndex) return "a list is too short";
  if (error.id == kWrongType) return "a value is of the wrong type: " + what;
  return what;
}

void to_json(nlohmann::json& j, const MeasureRules& rules) {
  for (const MeasureRule& rule : kMeasureRules)
    std::visit([&](auto member) { j[std::string(rule.name)] = rules.*member; }, rule.member);
}

void from_json(const nlohmann::json& j, MeasureRules& rules) {
  for (const MeasureRule& rule : kMeasureRules)
    std::visit([&](auto member) { rules.*member = j.value(std::string(rule.name), rules.*member); }, rule.member);
}

}  // namespace tune

namespace nlohmann {

void adl_serializer<tune::Value>::to_json(json& j, const tune::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) j = *integer;
  if (const auto* number = std::get_if<double>(&value)) j = *number;
  if (const auto* boolean = std::get_if<tune::Bool>(&value)) j = boolean->value;
  if (const auto* text = std::get_if<std::string>(&value)) j = *text;
  if (const auto* pair = std::get_if<tune::Pair>(&value)) j = {pair->first, pair->second};
}

void adl_serializer<tune::Value>::from_json(const json& j, tune::Value& value) {
  if (j.is_number_integer())
    value = j.get<std::int64_t>();
  else if (j.is_number())
    value = j.get<double>();
  else if (j.is_boolean())
    value = tune::Bool{j.get<bool>()};
  else if (j.is_array() && j.size() == 2 && j[0].is_number_integer() && j[1].is_number_integer())
    value = tune::Pair{j[0].get<std::int64_t>(), j[1].get<std::int64_t>()};
  else
    value = j.get<std::string>();
}

void adl_serializer<tune::Problem>::to_json(json& j, const tune::Problem& problem) {
  if (const auto* gemm = std::get_if<tune::Gemm>(&problem)) j["gemm"] = *gemm;
  if (const auto* custom = std::get_if<tune::Custom>(&problem)) j["custom"] = *custom;
}

void adl_serializer<tune::Problem>::from_json(const json& j, tune::Problem& problem) {
  problem = std::monostate{};
  if (j.contains("gemm")) problem = j.at("gemm").get<tune::Gemm>();
  if (j.contains("custom")) problem = j.at("custom").get<tune::Custom>();
}

}  // namespace nlohmann

#pragma once
// JSON forms that several records share, for the .cpp files of this module only.
#include <string>

#include "wire/json.h"
#include "wire/records.h"

namespace tune {

/// Throws std::invalid_argument, which says why a line is not a valid record.
[[noreturn]] void refuse(const std::string& why);
/// Throw std::invalid_argument for what is no whole number within these bounds.
std::int64_t to_integer(const nlohmann::json& j, const std::string& what, std::int64_t least, std::int64_t most);
std::int64_t integer_at(const nlohmann::json& j, const char* key, std::int64_t least, std::int64_t most,
                        std::int64_t otherwise);
/// 0 if it is missing. Throws std::invalid_argument for what is no time.
double seconds_at(const nlohmann::json& j, const char* key);

void to_json(nlohmann::json& j, const Failure& failure);
void from_json(const nlohmann::json& j, Failure& failure);
void to_json(nlohmann::json& j, const Spec& spec);
void from_json(const nlohmann::json& j, Spec& spec);
void to_json(nlohmann::json& j, const Trial& trial);
void from_json(const nlohmann::json& j, Trial& trial);
void to_json(nlohmann::json& j, const Finals& finals);
/// Throws std::invalid_argument if a round is missing that finals which were held to their end would have.
void from_json(const nlohmann::json& j, Finals& finals);
/// Finals that may have been interrupted, so that rounds are missing.
Finals finals_at_any_time(const nlohmann::json& j);

namespace wire {
void to_json(nlohmann::json& j, const ResultsRecord& results);
void from_json(const nlohmann::json& j, ResultsRecord& results);
}  // namespace wire

}  // namespace tune

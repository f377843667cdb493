#pragma once
// JSON forms of the model's types, for .cpp files only: no other header of src includes the JSON library.
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/values/text.h"
#include "wire/messages.h"

namespace nlohmann {

/// Integers, floats, booleans, texts and [first, second] as what they are.
template <>
struct adl_serializer<tune::Value> {
  static void to_json(json& j, const tune::Value& value);
  static void from_json(const json& j, tune::Value& value);
};

/// null, {"gemm": {...}} or {"custom": {...}}.
template <>
struct adl_serializer<tune::Problem> {
  static void to_json(json& j, const tune::Problem& problem);
  static void from_json(const json& j, tune::Problem& problem);
};

}  // namespace nlohmann

namespace tune {

/// What a text that others wrote says. Discarded (`is_discarded()`) if it is malformed, or nested so deeply that what
/// walks over it could exhaust the stack.
nlohmann::json parse_json(std::string_view text);
/// Whether parse_json refuses it for its depth.
bool is_too_deep(std::string_view json);
/// Why a value is not what it should be, in our words and without the library's.
std::string fault_of(const nlohmann::json::exception& error);

/// What `read` returns. Throws Malformed for what the library, or a check of ours, refuses.
template <typename Read>
auto or_malformed(Read read) try {
  return read();
} catch (const nlohmann::json::exception& error) {
  throw wire::Malformed(fault_of(error));
} catch (const std::invalid_argument& error) {
  throw wire::Malformed(error.what());
}

/// One field of an object: an optional one is left out if it is unset. `take` leaves what the object does not have as
/// it is, `need` refuses that.
template <typename Value>
void put(nlohmann::json& j, const char* key, const Value& value) {
  j[key] = value;
}
template <typename Value>
void put(nlohmann::json& j, const char* key, const std::optional<Value>& value) {
  if (value) j[key] = *value;
}
template <typename Value>
void take(const nlohmann::json& j, const char* key, Value& value) {
  value = j.value(key, value);
}
template <typename Value>
void take(const nlohmann::json& j, const char* key, std::optional<Value>& value) {
  if (j.contains(key)) value = j.at(key).get<Value>();
}
template <typename Value>
void need(const nlohmann::json& j, const char* key, Value& value) {
  j.at(key).get_to(value);
}
template <typename Value>
void need(const nlohmann::json& j, const char* key, std::optional<Value>& value) {
  take(j, key, value);
}

// Defines to_json and from_json of a struct from its members; `READ` is TUNE_JSON_TAKE or TUNE_JSON_NEED.
#define TUNE_JSON_PUT(member) put(j, #member, value.member);
#define TUNE_JSON_TAKE(member) take(j, #member, value.member);
#define TUNE_JSON_NEED(member) need(j, #member, value.member);
#define TUNE_JSON_FIELDS(Type, READ, ...)                                 \
  inline void to_json(nlohmann::json& j, const Type& value) {             \
    j = nlohmann::json::object();                                         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(TUNE_JSON_PUT, __VA_ARGS__)) \
  }                                                                       \
  inline void from_json(const nlohmann::json& j, Type& value) {           \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(READ, __VA_ARGS__))          \
  }

/// What was found by this name. Throws std::invalid_argument if that is nothing.
template <typename Enum>
Enum require_named(std::optional<Enum> found, const std::string& name) {
  return found ? *found : throw std::invalid_argument("unknown name '" + name + "'");
}

// Defines to_json and from_json of an enum by the names of its enumerators.
#define TUNE_JSON_NAMES(Enum, names)                                                                   \
  inline void to_json(nlohmann::json& j, Enum value) { j = (names)[static_cast<std::size_t>(value)]; } \
  inline void from_json(const nlohmann::json& j, Enum& value) {                                        \
    const auto name = j.get<std::string>();                                                            \
    value = require_named(enumerator<Enum>(names, name), name);                                        \
  }

TUNE_JSON_NAMES(Type, kElementTypes)
TUNE_JSON_NAMES(Layout, kLayouts)
TUNE_JSON_NAMES(Bias, kBiases)
TUNE_JSON_NAMES(Epilogue, kEpilogues)
TUNE_JSON_NAMES(Scale, kScales)
TUNE_JSON_NAMES(Init, kInits)
TUNE_JSON_NAMES(Buffer::Role, Buffer::kRoles)
TUNE_JSON_NAMES(Stage, kStages)
TUNE_JSON_NAMES(Cause, kCauses)
TUNE_JSON_NAMES(PowerState, kPowerStates)
TUNE_JSON_NAMES(Argument::Kind, Argument::kKinds)
TUNE_JSON_NAMES(Argument::Scalar, Argument::kScalars)
TUNE_JSON_NAMES(MeasureRules::Energy, MeasureRules::kEnergies)

inline void to_json(nlohmann::json& j, Backend backend) { j = to_text(backend); }
inline void from_json(const nlohmann::json& j, Backend& backend) {
  const auto name = j.get<std::string>();
  backend = require_named(parse_backend(name), name);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Define, name, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CommandLine, words, is_shell)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Gemm, m, n, k, batch, a, b, c, acc, layout_a, layout_b, layout_c, lda,
                                                ldb, ldc, stride_a, stride_b, stride_c, alpha, beta, bias, epilogue,
                                                residual, scale_a, scale_b, group_offsets, routing, max_rows,
                                                any_padding, fast_accum, init)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Buffer, name, type, count, init, role, scale)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Custom, buffers, flops, bytes, tolerance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Timing, count, median, min, mean, p95, ci_low, ci_high, stopped_early,
                                                outliers, kept_mean, kept_median)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BuildInfo, key, artifact_hash, seconds, properties, code)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Device, name, driver, arch, properties)

/// The rows of kMeasureRules.
void to_json(nlohmann::json& j, const MeasureRules& rules);
void from_json(const nlohmann::json& j, MeasureRules& rules);
/// An object with what is known. Reading throws std::invalid_argument for what cannot be.
void to_json(nlohmann::json& j, const FailureFacts& facts);
void from_json(const nlohmann::json& j, FailureFacts& facts);

}  // namespace tune

#pragma once
#include <string>
#include <type_traits>
#include <variant>

#include "wire/json.h"

// Messages as JSON objects, of which one field says which alternative of a variant it is: the kName of its type.
namespace tune::wire {

/// `key` is that field.
template <typename Variant>
nlohmann::json object_of(const Variant& message, const char* key) {
  return std::visit(
      [&](const auto& alternative) {
        using Message = std::remove_cvref_t<decltype(alternative)>;
        nlohmann::json j = nlohmann::json::object();
        if constexpr (!std::is_empty_v<Message>) j = alternative;
        j[key] = Message::kName;
        return j;
      },
      message);
}

/// One line. Text that is not UTF-8 (a kernel's or a compiler's output) is repaired, not refused.
inline std::string line_of(const nlohmann::json& j) {
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Variant, std::size_t index = 0>
Variant message_named(const std::string& name, const nlohmann::json& j, const char* what) {
  if constexpr (index == std::variant_size_v<Variant>) {
    throw Malformed("unknown " + std::string(what) + " '" + name + "'");
  } else {
    using Message = std::variant_alternative_t<index, Variant>;
    if (name != Message::kName) return message_named<Variant, index + 1>(name, j, what);
    if constexpr (std::is_empty_v<Message>)
      return Message{};
    else
      return j.get<Message>();
  }
}

/// Throws Malformed; `what` is what it calls the message.
template <typename Variant>
Variant message_in(const nlohmann::json& j, const char* key, const char* what) {
  return or_malformed([&] { return message_named<Variant>(j.at(key).get<std::string>(), j, what); });
}

}  // namespace tune::wire

#include "cli/values.h"

#include <charconv>

namespace tune::cli {
namespace {

struct Quantity {
  double number = 0;
  std::string unit;
};

std::optional<Quantity> parse_quantity(const std::string& text) {
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc()) return std::nullopt;
  quantity.unit.assign(end, text.data() + text.size());
  return quantity;
}

}  // namespace

std::optional<double> parse_duration(const std::string& text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  const auto& [number, unit] = *quantity;
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  return number > 0 && number * factor > 0 && number < 1e9 ? std::optional(number * factor) : std::nullopt;
}

std::optional<double> parse_share(const std::string& text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  const auto& [number, unit] = *quantity;
  const double share = unit == "%" ? number / 100 : number;
  return (unit.empty() || unit == "%") && share >= 0 && share < 1 ? std::optional(share) : std::nullopt;
}

std::optional<std::int64_t> parse_bytes(const std::string& text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  std::string unit = quantity->unit;
  for (char& c : unit)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const double factor = unit == "m" || unit == "mb" ? 1 << 20 : unit == "g" || unit == "gb" ? 1 << 30 : 0;
  const double bytes = quantity->number * factor;
  return bytes >= 1 && bytes < 1e15 ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
}

std::optional<platform::Address> parse_host(const std::string& text) {
  platform::Address address{text, 0};
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[') && text.find(']') != std::string::npos;
  if (colon != std::string::npos && (bracketed ? colon > text.find(']') : text.find(':') == colon)) {
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc() || read != end) return std::nullopt;
    address.host = text.substr(0, colon);
  }
  if (bracketed) address.host = address.host.substr(1, address.host.find(']') - 1);
  return address.host.empty() ? std::nullopt : std::optional(address);
}

std::optional<std::int64_t> parse_whole(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<Part> parse_part(const std::string& text) {
  Part part;
  const char* const end = text.data() + text.size();
  const auto [colon, error] = std::from_chars(text.data(), end, part.index);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [last, wrong] = std::from_chars(colon + 1, end, part.count);
  const bool good = wrong == std::errc() && last == end && part.index >= 0 && part.index < part.count;
  return good ? std::optional(part) : std::nullopt;
}

std::optional<platform::Address> parse_page_address(const std::string& text) {
  platform::Address address;
  const std::size_t colon = text.rfind(':');
  const std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
  const char* end = port.data() + port.size();
  if (const auto [at, failed] = std::from_chars(port.data(), end, address.port); failed != std::errc() || at != end)
    return std::nullopt;
  if (colon == std::string::npos) return address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  return address;
}

}  // namespace tune::cli

#include "cli/values.h"

#include <charconv>

#include "model/values/text.h"

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
  const std::string unit = lower_case(quantity->unit);
  const double factor = unit == "m" || unit == "mb" ? 1 << 20 : unit == "g" || unit == "gb" ? 1 << 30 : 0;
  const double bytes = quantity->number * factor;
  return bytes >= 1 && bytes < 1e15 ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
}

std::optional<platform::Address> parse_host(const std::string& text) {
  platform::Address address{text, 0};
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[') && text.find(']') != std::string::npos;
  if (colon != std::string::npos && (bracketed ? colon > text.find(']') : text.find(':') == colon)) {
    const auto port = number_from<std::uint16_t>(std::string_view(text).substr(colon + 1));
    if (!port) return std::nullopt;
    address = {text.substr(0, colon), *port};
  }
  if (bracketed) address.host = address.host.substr(1, address.host.find(']') - 1);
  return address.host.empty() ? std::nullopt : std::optional(address);
}

std::optional<Part> parse_part(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto index = number_from<std::int64_t>(text.substr(0, colon));
  const auto count = number_from<std::int64_t>(text.substr(std::min(colon + 1, text.size())));
  if (!index || !count || *index < 0 || *index >= *count) return std::nullopt;
  return Part{*index, *count};
}

std::optional<platform::Address> parse_page_address(const std::string& text) {
  platform::Address address;
  const std::size_t colon = text.rfind(':');
  const auto port =
      number_from<std::uint16_t>(std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1));
  if (!port) return std::nullopt;
  address.port = *port;
  if (colon == std::string::npos) return address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  return address;
}

}  // namespace tune::cli

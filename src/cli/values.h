#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "platform/address.h"

namespace tune::cli {

/// One of `count` parts of a whole; the first has index 0.
struct Part {
  std::int64_t index = 0, count = 1;
};

/// Quantities as the command line writes them. nullopt: the text is none.

/// 90, 90s, 10m or 1.5h, in seconds.
std::optional<double> parse_duration(const std::string& text);
/// 1% or 0.01, as a share from 0 to below 1.
std::optional<double> parse_share(const std::string& text);
/// 500M or 12G, also with a B, in bytes.
std::optional<std::int64_t> parse_bytes(const std::string& text);
/// 8080, 0.0.0.0:8080 or [::1]:8080; without an address it is that of this machine alone.
std::optional<platform::Address> parse_page_address(const std::string& text);
/// `node1`, `node1:7000` or `[::1]:7000`; without a port it is 0.
std::optional<platform::Address> parse_host(const std::string& text);
/// 0:4, the first of four parts.
std::optional<Part> parse_part(const std::string& text);

}  // namespace tune::cli

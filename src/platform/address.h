#pragma once
#include <cstdint>
#include <string>

namespace tune::platform {

/// Where a program listens, or is to be reached.
struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< to listen at 0: any that is free
};

}  // namespace tune::platform

#pragma once
// Peers that know nothing of frames and hubs.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdint>

#include "platform/files/descriptor.h"

namespace tune {

/// A connection to a program on this machine; none: the system has no port left, or nothing listens there.
inline platform::Descriptor connect_to(std::uint16_t port) {
  platform::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.close();
  return socket;
}

}  // namespace tune

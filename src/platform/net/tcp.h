#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "platform/files/descriptor.h"

/// TCP sockets that never block. Knows nothing of what is sent.
namespace tune::platform {

/// Throws Error(bad_input) if the address is none of this machine's, and Error(environment) if the port cannot be had.
Descriptor listen_at(const std::string& host, std::uint16_t port);
std::uint16_t port_of(const Descriptor& socket);
/// Throws Error(environment) if nothing accepts the connection by then.
Descriptor connect_to(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit);
/// The next connection that waits; none: nobody does. `peer` becomes its address.
Descriptor accept_from(const Descriptor& listener, std::string& peer);

/// An address of this machine that other machines are likely to reach: that of its name, or of a network interface;
/// 127.0.0.1 if it has no network.
std::string address_for_others();

}  // namespace tune::platform

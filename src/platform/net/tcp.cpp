#include "platform/net/tcp.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "model/values/error.h"

namespace tune::platform {
namespace {

constexpr int kBacklog = 4096;  // thousands of agents may connect at once

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// What a name and a port stand for. `why` becomes the reason if there is none.
Addresses addresses_of(const std::string& host, std::uint16_t port, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) why = ::gai_strerror(error);
  return {error == 0 ? found : nullptr, &::freeaddrinfo};
}

Descriptor socket_for(const addrinfo& address) {
  return Descriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string numeric(const sockaddr* address, socklen_t size) {
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  ::getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return std::string(host) + " port " + port;
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family != AF_INET) return false;
  return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
}

std::string host_part(const sockaddr& address) {
  char host[NI_MAXHOST] = "";
  ::getnameinfo(&address, sizeof(sockaddr_in), host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

/// 0 once it is connected, or why it is not.
int finish_connecting(const Descriptor& socket, const addrinfo& address, int milliseconds) {
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{socket.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, milliseconds) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Descriptor listen_at(const std::string& host, std::uint16_t port) {
  std::string why;
  const Addresses addresses = addresses_of(host, port, why);
  int error = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Descriptor socket = socket_for(*address);
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), address->ai_addr, address->ai_addrlen) == 0 && ::listen(socket.get(), kBacklog) == 0)
      return socket;
    error = errno;
  }
  if (error == 0 || error == EADDRNOTAVAIL)
    throw Error(ExitCode::bad_input, "--listen " + host + ": this is no address of this machine" +
                                         (why.empty() ? "" : " (" + why + ")") +
                                         "; give the name or address of one of its network interfaces");
  throw Error(ExitCode::environment, "cannot listen at " + host + " port " + std::to_string(port) + ": " +
                                         std::strerror(error) + "; choose another port with --listen HOST:PORT");
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Descriptor connect_to(const std::string& host, std::uint16_t port, std::chrono::duration<double> limit) {
  std::string why;
  const Addresses addresses = addresses_of(host, port, why);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Descriptor socket = socket_for(*address);
    const int error = finish_connecting(socket, *address, static_cast<int>(limit.count() * 1000));
    if (error == 0) {
      send_at_once(socket);
      return socket;
    }
    why = std::strerror(error);
  }
  throw Error(ExitCode::environment, "cannot connect to " + host + " port " + std::to_string(port) + ": " + why);
}

Descriptor accept_from(const Descriptor& listener, std::string& peer) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  Descriptor socket(::accept4(listener.get(), general, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return socket;
  send_at_once(socket);
  peer = numeric(general, size);
  return socket;
}

std::string address_for_others() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::string why;
  const Addresses addresses = addresses_of(name, 0, why);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next)
    if (address->ai_family == AF_INET && !is_loopback(*address->ai_addr)) return host_part(*address->ai_addr);
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return "127.0.0.1";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(interfaces, &::freeifaddrs);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next)
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) != 0 &&
        !is_loopback(*one->ifa_addr))
      return host_part(*one->ifa_addr);
  return "127.0.0.1";
}

}  // namespace tune::platform

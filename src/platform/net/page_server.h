#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tune::platform {

/// Where a page is served, and to whom: only requests that have the token are answered.
struct PageAddress {
  std::string host = "127.0.0.1";  ///< an address of this machine
  std::uint16_t port = 0;          ///< 0: any that is free
};

/// What is served. The functions are called one at a time, by the thread that serves.
struct ServedPage {
  std::function<std::string()> page;  ///< the HTML file
  std::function<std::string()> news;  ///< one line of JSON that open pages are sent
  std::function<bool()> changed;      ///< whether there are news since the last call
  std::function<bool()> ended;        ///< whether to tell open pages so, and to stop
};

/// Serves one page by HTTP, and tells open pages by server-sent events what is new: `/` and `/events`.
class PageServer {
 public:
  /// Takes the port. Throws Error(bad_input) if the address is none, and Error(environment) if it cannot be had.
  PageServer(const PageAddress& address, ServedPage served);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// With the token: what to open in a browser.
  std::string url() const;
  /// Serves until the page has ended. Broken requests, and readers that are slow or leave, change nothing.
  void run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tune::platform

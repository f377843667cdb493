#pragma once
#include <functional>
#include <memory>
#include <string>

#include "platform/address.h"

namespace tune::platform {

/// What is served. The functions are called one at a time, by the thread that serves.
struct ServedPage {
  std::function<std::string()> page;  ///< the HTML file
  std::function<std::string()> news;  ///< one line of JSON that open pages are sent
  std::function<bool()> changed;      ///< whether there are news since the last call
  std::function<bool()> ended;        ///< whether to tell open pages so, and to stop
};

/// Serves one page by HTTP, and tells open pages by server-sent events what is new: `/` and `/events`. Only requests
/// that have the token are answered.
class PageServer {
 public:
  /// Takes the port on this machine. Throws Error(bad_input) if the address is none, and Error(environment) if it
  /// cannot be had.
  PageServer(const Address& address, ServedPage served);
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

#pragma once
#include <functional>
#include <string>

namespace tune::exec {

/// Tells a person at once what a run meets. Either function may be empty.
struct Announce {
  std::function<void(const std::string&)> on_news;     ///< what goes on
  std::function<void(const std::string&)> on_warning;  ///< what a person must know, even one who wants no news

  void news(const std::string& text) const {
    if (on_news) on_news(text);
  }
  void warn(const std::string& text) const {
    if (on_warning) on_warning(text);
  }
};

}  // namespace tune::exec

#include "page/page.h"

#include "page/page_sources.h"

namespace tune::page {
namespace {

/// A text as markup shows it.
std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '&')
      all += "&amp;";
    else if (c == '<')
      all += "&lt;";
    else if (c == '"')
      all += "&quot;";
    else
      all += c;
  }
  return all;
}

/// JSON that stands between script tags: nothing in it can end them or begin a comment.
std::string without_tags(std::string_view json) {
  std::string all;
  all.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      all += "\\u003c";
    else
      all += c;
  }
  return all;
}

std::string runs_of(std::span<const std::string> data) {
  std::string all = "[";
  for (const std::string& run : data) all += (all.size() > 1 ? ",\n" : "\n") + without_tags(run);
  return all + "\n]";
}

/// What stands in the markup for a name in double braces.
std::string part(std::string_view name, const PageRules& rules, std::span<const std::string> data) {
  if (name == "title") return escaped(rules.title);
  if (name == "made") return escaped(rules.made);
  if (name == "nonce") return rules.nonce;
  if (name == "live") return rules.live ? "true" : "false";
  if (name == "connect") return rules.live ? "'self'" : "'none'";
  if (name == "style") return kPageStyle;
  if (name == "script") return kPageScript;
  return runs_of(data);
}

}  // namespace

std::string html(const PageRules& rules, std::span<const std::string> data) {
  constexpr std::string_view kOpen = "{{", kClose = "}}";
  std::string text;
  std::string_view rest = kPageMarkup;
  for (std::size_t open = rest.find(kOpen); open != std::string_view::npos; open = rest.find(kOpen)) {
    const std::size_t close = rest.find(kClose, open);
    text += rest.substr(0, open);
    text += part(rest.substr(open + kOpen.size(), close - open - kOpen.size()), rules, data);
    rest.remove_prefix(close + kClose.size());
  }
  return text.append(rest);
}

}  // namespace tune::page

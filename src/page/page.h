#pragma once
#include <span>
#include <string>

/// The page of a report: one HTML file that needs nothing else. Its markup, style and scripts are the files in page/.
namespace tune::page {

/// How a page is told what changes while it is open.
struct PageRules {
  std::string title;
  std::string made;   ///< when, for the reader
  bool live = false;  ///< it listens to the server that it came from
  std::string nonce;  ///< letters and digits that `data` cannot foresee: scripts without it are not executed
};

/// `data`: JSON values, one per run, as report_data writes them. No text in them becomes markup, whatever it is.
std::string html(const PageRules& rules, std::span<const std::string> data);

}  // namespace tune::page

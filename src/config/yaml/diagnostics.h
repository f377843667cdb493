#pragma once
#include <memory>
#include <string>
#include <vector>

namespace tune::config {

/// Where a text stands in a user's file, 1-based. Line 0: it came from the command line, and `file` names the option.
struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;
};

/// Where a word of the command line is: this option, or whatever says which word is meant.
Place place_of_option(std::string option);

/// `gemm.yaml:14`, with the file as the user gave it.
std::string to_text(const Place& place);

/// Collects what is wrong with a user's files, so that everything is said at once, and what is probably a mistake.
class Diagnostics {
 public:
  void add(const Place& place, const std::string& text);
  /// Notes what a user should look at, although it is allowed.
  void warn(const Place& place, const std::string& text);
  bool any() const { return !diagnostics_.empty(); }
  /// Throws Error(bad_input) with one `FILE:LINE: text` per line, files in order of appearance and lines ascending.
  void throw_if_any() const;
  /// The warnings in the same form and order, one each.
  std::vector<std::string> warnings() const;

 private:
  struct Diagnostic {
    std::size_t file;
    int line;
    std::string text;
    bool operator==(const Diagnostic&) const = default;
  };
  static std::vector<Diagnostic> sorted(std::vector<Diagnostic> list);

  void add_to(std::vector<Diagnostic>& list, const Place& place, const std::string& text);

  std::vector<std::string> files_;
  std::vector<Diagnostic> diagnostics_, warnings_;
};

}  // namespace tune::config

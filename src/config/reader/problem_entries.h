#pragma once
#include <string>
#include <vector>

#include "config/yaml/node.h"

namespace tune::config {

/// The entries of a tuning file's problem that may be set from outside: those of a gemm, by our names or by tune_gemm's
/// (M, rowMajorA), and the sizes of a custom problem. A program has neither, and no entries.
class ProblemEntries {
 public:
  /// `root` is the tuning file; it and `diagnostics` must outlive this.
  ProblemEntries(Node& root, Diagnostics& diagnostics);

  bool is_gemm() const { return gemm_ != nullptr; }
  bool is_custom() const { return custom_ != nullptr; }

  /// Sets an entry to a value as a user writes it; false: there is none of this name. Reports a value that cannot be.
  bool set(const std::string& name, const std::string& text, const Place& place);

  /// The names that can be set.
  std::vector<std::string> names() const;
  /// The gemm's own key for one of its names; empty: it is no such name, or one of a layout.
  static std::string gemm_key(const std::string& name);
  /// Whether tune_gemm calls a size or a layout so.
  static bool is_name_of_tune_gemm(const std::string& name);

 private:
  bool set_gemm(const std::string& name, const std::string& text, const Place& place);
  void set_layout(const std::string& matrix, const std::string& text, const Place& place);
  bool set_custom_size(const std::string& name, const std::string& text, const Place& place);

  Diagnostics* diagnostics_;
  Node* gemm_ = nullptr;
  Node* custom_ = nullptr;
};

}  // namespace tune::config

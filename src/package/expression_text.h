#pragma once
#include <map>
#include <stdexcept>
#include <string>

#include "model/expression/expression_graph.h"

namespace tune::package {

/// What the tuning file says cannot be said in a package. what() names it.
class NotPackaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes terms as C++ that calls the functions of files/number.h.in. Throws NotPackaged for texts and pairs.
class ExpressionText {
 public:
  explicit ExpressionText(const ExpressionGraph& graph) : graph_(&graph) {}

  /// From now on the term is called so.
  void name(int term, std::string name) { names_.try_emplace(term, std::move(name)); }
  bool has_name(int term) const { return names_.contains(term); }
  std::string of(int term) const;
  static std::string number(double real);

 private:
  std::string constant(const Computed& value) const;

  const ExpressionGraph* graph_;
  std::map<int, std::string> names_;
};

}  // namespace tune::package

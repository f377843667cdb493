#pragma once
#include <string>
#include <vector>

#include "commands/init/tokens.h"

namespace tune::commands {

/// What stands between `#if X` and `#else` or `#endif`, or between these two.
struct Branch {
  Tokens condition;
  bool otherwise = false;
  int begin = 0, end = 0;  ///< lines
};

/// Those of conditions with one or two branches that ask for values alone, inner ones first.
std::vector<Branch> branches_of(const std::vector<Tokens>& directives);
/// The innermost branch that a line stands in; null: there is none.
const Branch* branch_at(const std::vector<Branch>& branches, int line);
/// The name that a condition asks for, as in `ifndef N` and `if !defined(N)`; empty: it asks for something else.
std::string asked_for(const Tokens& directive);

}  // namespace tune::commands

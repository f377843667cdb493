#pragma once
#include <vector>

#include "commands/init/source.h"

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

/// The code without main, and functions that launch a kernel. `first_line`: that of the first of these, unless it is
/// known already; 0: there is none.
Tokens without_host_functions(const Tokens& code, int& first_line);
/// The functions that can be kernels, without their constants.
std::vector<Kernel> kernels_in(const Tokens& code, const std::vector<Branch>& branches, bool for_gpu);

}  // namespace tune::commands

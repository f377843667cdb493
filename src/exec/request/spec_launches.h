#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/plan.h"
#include "wire/messages.h"

namespace tune::exec {

/// A spec cannot be launched because an expression of its launch cannot be evaluated, for example because its grid
/// divides by zero. The spec fails, and the run goes on.
class Unlaunchable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A build has all launches, whatever their `if` says, because specs that differ in `$` values share it.
enum class WhichLaunches { all, taken };

/// How the kernels are launched for one spec: what the expressions of these rules are for its values. `section`: of the
/// tuning file, for messages. Throws Unlaunchable.
std::vector<wire::KernelLaunch> launches_of(const Plan& plan, const std::vector<Launch>& rules, const Spec& spec,
                                            WhichLaunches which, const std::string& section = "launch");

/// The size of the workspace for one spec; 0: there is none. Throws Unlaunchable.
std::int64_t workspace_bytes_of(const Plan& plan, const Spec& spec);

}  // namespace tune::exec

#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/build/builder.h"
#include "exec/evaluate/finals_run.h"
#include "exec/process/runner.h"
#include "exec/process/stage_times.h"

namespace tune::exec {

/// Where the specs of a run are built and timed: this machine, or several machines with an agent on each.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs the specs of the sweep. It is owned by the executor.
  virtual Runner& runner() = 0;
  /// Why the results of shared processes cannot be trusted, such as `spec 3 took ...`; empty if they can.
  virtual std::string distrust() const = 0;
  /// From now on every spec has a process of its own.
  virtual void stop_sharing() = 0;
  /// Finals of these contenders, which begin with FinalsRun::run(). The executor must outlive them.
  virtual std::unique_ptr<FinalsRun> finals(std::vector<wire::Contender> contenders, FinalsRules rules) = 0;
  /// The artifact of a spec, which is built again if the store has it no longer. Throws Error(environment) if it cannot
  /// be had, and Interrupted.
  virtual Artifact artifact(const Spec& spec) = 0;
  /// How long the sweep spent in each stage; nullopt if nothing was run, or it is not known.
  virtual std::optional<Usage> usage() = 0;
};

}  // namespace tune::exec

#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/sources.h"
#include "exec/identity.h"
#include "model/plan.h"
#include "model/trial.h"
#include "wire/messages.h"

namespace tune {

/// A spec whose launch has no value, such as a grid that divides by zero: it fails, the run goes on.
class Unlaunchable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a worker is asked to do for one spec, and the hashes that say whether it was done before. Everything that
/// depends on the plan and the machine alone is hashed once; per spec only its own values are.
class Requests {
 public:
  /// Reads the source and its headers. Throws Error(bad_input) if the source cannot be read.
  Requests(const Plan& plan, wire::Hello hello, std::uint64_t seed);

  const Plan& plan() const { return *plan_; }
  const wire::Hello& hello() const { return hello_; }
  std::uint64_t seed() const { return seed_; }
  /// What a user should know of the build key: that a header is not part of it. Empty: nothing.
  std::string remark() const;
  /// Whether specs have an artifact at all (scripts and programs that exist have none).
  bool has_build() const { return has_build_; }

  /// Hash of source and headers, flags, definitions, compiler and architecture: one artifact per key.
  std::string build_key(const Spec& spec) const;
  /// Hash of all that a trial's outcome depends on: the build key, `$` values, problem, launch, measuring rules but the
  /// cutoff, protocol, device model and driver.
  std::string trial_id(const Spec& spec) const;
  /// Hash of what is timed, for specs of one run: the artifact, `$` values and launches; empty without an artifact.
  std::string code_of(const Spec& spec, const std::string& artifact_hash) const;
  /// As trial_id for the vendor's library: its file, and the environment's variables that it heeds.
  std::string vendor_id() const { return identity_.of_vendor(); }

  /// `output`, `artifact` and `reference` are left empty for the caller. Throw Unlaunchable.
  wire::BuildRequest build(const Spec& spec) const;
  wire::MeasureRequest measure(const Spec& spec) const;
  wire::MeasureRequest vendor() const;

  /// Why prune_after_build excludes a spec whose build turned out like this; nullopt if it does not, or if the rule is
  /// over what this build does not tell.
  std::optional<std::string> pruned_after_build(const Spec& spec, const BuildInfo& build) const;

  /// How the reference result is made: the problem alone for a GEMM; for a custom problem the reference kernel, built
  /// like `spec` but for what is launched, or the trusted spec itself.
  wire::BuildRequest reference_build(const Spec& spec) const;
  std::string reference_build_key(const Spec& spec) const;
  wire::ReferenceRequest reference(const Spec& spec) const;

 private:
  /// A build knows all launches, whatever their `if` says: specs that differ in `$` values share it.
  enum class Which { all, taken };
  std::vector<wire::KernelLaunch> launches(const std::vector<Launch>& rules, const Spec& spec, Which which) const;
  std::int64_t workspace_bytes(const std::vector<Value>& slots) const;
  std::vector<Define> defines(const Spec& spec) const;
  Spec reference_spec(const Spec& spec) const;

  const Plan* plan_;
  wire::Hello hello_;
  std::uint64_t seed_;
  bool has_build_;
  SourceHash sources_;
  Identity identity_;
};

}  // namespace tune

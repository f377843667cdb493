#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/device_setting.h"
#include "model/plan.h"
#include "platform/store/sources.h"
#include "wire/messages.h"

namespace tune::exec {

/// What builds and trials are known by, in the store and in journals: hashes of lists of fields, which are in
/// identity.cpp, each with the reason why it belongs. They have the names that tuning files have, and the order of
/// Argument's kinds and types of scalars, so that neither may change.
///
/// The version of the lists is wire::kProtocol, the first field of every trial. Whoever adds a field, drops one or
/// writes one differently either keeps the hashes of the plans that did not have it, as `bias` does, or raises that
/// version: a run then says that the trials of an older journal are of another version, and measures them again.
/// identity_test.cpp pins the hashes of a few plans.
class Identity {
 public:
  /// `sources`: of the plan's file and of what it includes.
  Identity(const Plan& plan, const wire::Hello& hello, std::uint64_t seed, const platform::SourceHash& sources);

  /// The key of an artifact: a hash of everything that it is built from, with the definitions of a spec.
  std::string of_build(std::vector<Define> defines) const;
  /// The key of a reference kernel's artifact, which is built as `build` is, except that `kernel` is launched.
  static std::string of_reference_build(const std::string& build, const Launch& kernel);
  /// The identity of a trial: a hash of everything that its outcome depends on.
  std::string of_trial(std::vector<Setting> params, const std::string& build) const;
  /// The identity of a trial of the vendor's library.
  std::string of_vendor() const;
  /// Identifies what is launched, among the specs of one run. Journals hold it, but no run compares it with an earlier
  /// run's; only a simulation does, on a journal that runs of several versions have written to.
  static std::string of_code(const std::string& artifact_hash, const wire::KernelRun& run, const Words& arguments,
                             const DeviceSettings& clocks);
  /// Stands for an artifact and all that is measured of it, now or for an earlier result: what two that share it take
  /// differs by noise alone. Empty without an artifact.
  static std::string of_measuring(const std::string& artifact_hash, wire::MeasureRequest request,
                                  const DeviceSettings& clocks);

 private:
  std::string build_part_;    ///< what every build of the plan shares
  std::string measure_part_;  ///< what every trial of the plan shares beyond its build
  std::string vendor_library_;
  Backend backend_;
};

}  // namespace tune::exec

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/request/identity.h"
#include "model/program.h"
#include "model/trial.h"
#include "platform/store/sources.h"
#include "wire/messages.h"

namespace tune::exec {

/// A source of the plan and the headers that it includes. Throws Error(bad_input) if a file cannot be read.
platform::Sources sources_of(const Plan& plan, const std::filesystem::path& file);

/// Makes the requests that a worker gets for one spec, and the keys that identify builds and trials of specs
/// (Identity).
class RequestFactory {
 public:
  /// Reads the source and its headers. Throws Error(bad_input) if the source cannot be read.
  RequestFactory(const Plan& plan, wire::Hello hello, std::uint64_t seed);

  const Plan& plan() const { return *plan_; }
  const wire::Hello& hello() const { return hello_; }
  std::uint64_t seed() const { return seed_; }
  /// Of the source and its headers, or of all sources together; empty for an installed command.
  std::string source_hash() const;
  /// What builds are made from, as it was when it was read: also the files of build.depends, and what flags and
  /// build.command name. Of an installed command its programs.
  const platform::WatchedFiles& files() const { return files_; }
  /// Warns that a header is not part of the build key; empty if all headers are.
  std::string remark() const;
  /// Whether specs have an artifact at all (scripts and programs that exist have none).
  bool has_build() const { return is_built(*plan_); }

  /// Identity::of_build for this spec: there is one artifact per key.
  std::string build_key(const Spec& spec) const;
  /// Identity::of_trial for this spec.
  std::string trial_id(const Spec& spec) const;
  /// Identity::of_code for this spec; empty without an artifact.
  std::string code_of(const Spec& spec, const std::string& artifact_hash) const;
  /// Identity::of_vendor.
  std::string vendor_id() const { return sources_.front().identity.of_vendor(); }

  /// `output`, `artifact` and `reference` are left empty for the caller. Throw Unlaunchable (spec_launches.h).
  wire::BuildRequest build(const Spec& spec) const;
  wire::MeasureRequest measure(const Spec& spec) const;
  /// What is launched; nothing of a program.
  wire::KernelRun kernel_run(const Spec& spec) const;
  /// `best`: the fastest of the library's algorithms, not its own choice.
  wire::MeasureRequest vendor(bool best) const;

  /// Why prune_after_build excludes a spec with this build; nullopt if it does not, or if the rule needs properties
  /// that this build does not report.
  std::optional<std::string> pruned_after_build(const Spec& spec, const BuildInfo& build) const;

  /// How the reference result is made. For a GEMM the problem says all. For a custom problem it takes the trusted spec,
  /// or the reference kernel, which is built with the parameters of `spec`. Throw Unlaunchable.
  wire::BuildRequest reference_build(const Spec& spec) const;
  Spec reference_spec(const Spec& spec) const;
  std::string reference_build_key(const Spec& spec) const;
  wire::ReferenceRequest reference(const Spec& spec) const;

 private:
  struct Source {
    std::filesystem::path file;
    platform::SourceHash hash;
    Identity identity;
  };

  const Source& source_of(const Spec& spec) const;
  wire::ProgramRun program_run(const Spec& spec) const;
  wire::MeasureRequest request_of(decltype(wire::MeasureRequest::what) what) const;
  std::vector<Define> defines(const Spec& spec) const;

  const Plan* plan_;
  wire::Hello hello_;
  std::uint64_t seed_;
  std::vector<Source> sources_;  ///< more than one where the plan has candidates
  platform::WatchedFiles files_;
};

}  // namespace tune::exec

#pragma once
#include <memory>

#include "exec/build/builder.h"
#include "exec/request/request_factory.h"

namespace tune::exec {

/// The builds of a run's specs: which artifact a spec needs, whether it is there, and what is known of it.
class BuildService {
 public:
  /// `requests` must outlive this. `builder`: of this run, or of all tunings of a command.
  BuildService(const RequestFactory& requests, std::shared_ptr<Builder> builder)
      : requests_(&requests), builder_(std::move(builder)) {}

  Builder& builder() { return *builder_; }
  const Builder& builder() const { return *builder_; }

  /// Queues a spec's build if the spec needs one that does not exist yet. Throws Unlaunchable, Error(environment).
  void want(const Spec& spec);
  /// The result of a spec's build; null if the build is not finished. A program that is not built has an Artifact
  /// without a path.
  const Builder::Result* find(const Spec& spec);
  /// Does what `find` does, right before the artifact is loaded: returns null also if it is gone or has changed since
  /// it was built. A missing artifact is queued to be built. Throws what `want` throws.
  const Builder::Result* find_or_build(const Spec& spec);
  /// The same for the reference kernel built with the parameters of `spec`, whose build is started at once.
  const Builder::Result* find_or_build_reference(const Spec& spec);

  /// The result of that build; null if it is not finished.
  const Builder::Result* find_reference(const Spec& spec) {
    return builder_->find(requests_->reference_build_key(spec));
  }

  /// What is known of a spec's build: what its artifact tells, and the occupancy that follows from it and the launch.
  BuildInfo info_of(const Spec& spec, const Artifact& artifact) const;
  /// Why launches of what was built are impossible, as far as that can be known without a device.
  std::optional<std::string> launch_fault(std::span<const wire::KernelLaunch> launches, const Artifact& artifact) const;

 private:
  const RequestFactory* requests_;
  std::shared_ptr<Builder> builder_;
};

}  // namespace tune::exec

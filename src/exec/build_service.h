#pragma once
#include "exec/builder.h"
#include "exec/requests.h"

namespace tune::exec {

/// The builds of a run's specs: which artifact a spec needs, whether it is there, and what is known of it.
class BuildService {
 public:
  /// `requests` and `launcher` must outlive this.
  BuildService(const Requests& requests, const WorkerLauncher& launcher, base::StorePlaces store, int jobs)
      : requests_(&requests), builder_(launcher, std::move(store), jobs) {}

  Builder& builder() { return builder_; }
  const Builder& builder() const { return builder_; }

  /// Queues a spec's build if it needs one that is not there. Throws Unlaunchable, Error(environment).
  void want(const Spec& spec);
  /// Null while the build is to be done; an Artifact without path for a program that is not built.
  const Builder::Result* find(const Spec& spec);
  /// The same right before the artifact is loaded: null also if it is gone or has changed since it was built. What is
  /// missing is queued to be built. Throws as want.
  const Builder::Result* find_intact(const Spec& spec);
  /// The same of the reference kernel built with the parameters of `spec`, whose build is started if it is missing.
  const Builder::Result* find_intact_reference(const Spec& spec);

  /// What is known of a spec's build: what its artifact tells, and the occupancy that follows from it and the launch.
  BuildInfo info_of(const Spec& spec, const Artifact& artifact) const;

 private:
  const Requests* requests_;
  Builder builder_;
};

}  // namespace tune::exec

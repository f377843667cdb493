#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "exec/builder.h"
#include "exec/requests.h"
#include "exec/runner.h"
#include "exec/scratch.h"

namespace tune {

struct WorkshopOptions {
  std::filesystem::path worker;  ///< executable
  std::filesystem::path store;   ///< folder of build artifacts
  std::filesystem::path keep;    ///< folder for what failed specs leave; empty: none
  Deadlines deadlines;
  int jobs = 1;  ///< build processes at a time
};

/// What sweep and finals share: the processes, the builds, and the reference result that every spec is checked against.
class Workshop {
 public:
  /// `requests` must outlive this.
  Workshop(const Requests& requests, WorkshopOptions options);
  ~Workshop();

  const Requests& requests() const { return *requests_; }
  const WorkshopOptions& options() const { return options_; }
  Processes& processes() { return processes_; }
  Builder& builder() { return builder_; }

  /// Queues a spec's build if it needs one that is not there. Throws Unlaunchable, Error(environment).
  void want_build(const Spec& spec);
  /// Builds all that is queued. Throws Interrupted.
  void finish_builds();
  /// Null while the build is to be done; an Artifact without path for a program that is not built.
  const Builder::Result* find_build(const Spec& spec);

  /// Brings the reference result closer, using `spec` to build a reference kernel; true once it is there (or the
  /// problem has none). Throws Unlaunchable if it cannot be made with this spec's build, Error if not at all.
  bool reference_ready(const Spec& spec);
  bool making_reference() const { return reference_process_ != nullptr; }

  /// A measure process for an artifact. Throws Error(environment).
  WorkerProcess start_measuring(wire::MeasureRequest request, const std::string& artifact);

  /// Throws Error(environment): a worker could not be killed, so what it runs on is lost.
  [[noreturn]] void throw_device_lost() const;

  /// Passes on events of builds and of the reference; false if it is neither's.
  bool handle(const Processes::Event& event);

 private:
  void make_reference(const Spec& spec);
  std::string reference_name() const;
  std::uint64_t reference_bytes() const;

  const Requests* requests_;
  WorkshopOptions options_;
  std::unique_ptr<Scratch> scratch_;  ///< outlives the processes that write to it
  Processes processes_;
  Builder builder_;
  std::unique_ptr<WorkerProcess> reference_process_;
  std::string reference_;          ///< path, once it is there
  std::string reference_failure_;  ///< of the last attempt with some spec's build
};

}  // namespace tune

#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "wire/messages.h"

namespace tune::worker {

/// What ends a worker with `failed`: an expected way for a spec to fail, with the stage it failed in.
class SpecFailure : public std::runtime_error {
 public:
  explicit SpecFailure(wire::Failed failed) : std::runtime_error(failed.message), failed_(std::move(failed)) {}
  SpecFailure(Stage stage, const std::string& message) : SpecFailure(wire::Failed{stage, message}) {}
  Stage stage() const { return failed_.stage; }
  const wire::Failed& failed() const { return failed_; }

 private:
  wire::Failed failed_;
};

/// The device could not be opened, for which the spec is not to blame.
class NoDevice : public SpecFailure {
 public:
  explicit NoDevice(const std::string& message)
      : SpecFailure(wire::Failed{.stage = Stage::load, .message = message, .no_device = true}) {}
};

/// Memory ran out in the stage that the worker is in. The machine is suspected unless the user has set the limit.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& message, bool machine_suspected)
      : std::runtime_error(message), machine_suspected_(machine_suspected) {}
  bool machine_suspected() const { return machine_suspected_; }

 private:
  bool machine_suspected_;
};

/// One way of building and running kernels. worker/main.cpp speaks the protocol and calls it: one process calls one of
/// probe, hold, build, reference, or load followed by measure (repeatedly in the finals), and after that load again,
/// with another spec, instead of the one before or beside it. Everything may throw SpecFailure.
class WorkerBackend {
 public:
  using Report = std::function<void(const wire::Event&)>;

  virtual ~WorkerBackend() = default;
  virtual Backend kind() const = 0;
  /// Describes device and compiler without opening a context.
  virtual wire::Hello probe() = 0;
  /// Keeps the device open until the process ends, if that lets other processes open it faster.
  virtual void hold() {}
  virtual wire::Built build(const wire::BuildRequest& request) = 0;
  virtual void reference(const wire::ReferenceRequest& request) = 0;
  /// Whether this process must stay for others to copy the reference from the device.
  virtual bool keeps_reference() const { return false; }
  /// Takes the artifact and all memory; launches nothing. With `beside`, what was loaded before stays: see wire::Next.
  virtual void load(const wire::MeasureRequest& request, bool beside = false) = 0;
  /// Fills the buffers, checks the spec (and reports Checked then) and times it. Returns nullopt if the spec has only
  /// been checked and now waits for another `go`. A backend that cannot do anything useful meanwhile never checks
  /// alone.
  virtual std::optional<wire::Measured> measure(const wire::Go& go, const Report& report) = 0;
  /// Runs a separate process that a backend has started for its kernels, and which has no protocol channel. Returns the
  /// exit code.
  virtual int run_kernel() { return 2; }
};

/// The executable's own backend: each tune-worker-* links exactly one definition.
std::unique_ptr<WorkerBackend> make_backend();

}  // namespace tune::worker

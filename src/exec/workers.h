#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/device.h"
#include "platform/store/store.h"
#include "wire/messages.h"

namespace tune::exec {

// What specs are built and timed by.

struct AgentPlan;
class Executor;
class RequestFactory;
class RunObserver;

/// Machines beside this one, on which a run builds and times. Functions throw as those of Workers do.
class OtherMachines {
 public:
  virtual ~OtherMachines() = default;
  virtual void start() = 0;
  virtual const wire::Hello& probe(Backend backend) = 0;
  virtual std::vector<std::string> models(Backend backend) = 0;
  virtual void choose_model(Backend backend, const std::string& model) = 0;
  /// How many devices they have together, of the chosen model.
  virtual int devices() const = 0;
  /// Builds and times specs there; they prepare for the plan now. `store` is this machine's, and has artifacts of
  /// earlier results. This, requests and observer, which has the news of the machines, must outlive it.
  virtual std::unique_ptr<Executor> executor(const RequestFactory& requests, const AgentPlan& plan,
                                             platform::StorePlaces store, RunObserver& observer) = 0;
};

/// The worker executables of this installation and what they say of this machine. Each is probed at most once.
class Workers {
 public:
  /// Workers stand next to `tune`, or in ../libexec/tune seen from it. A probe is killed after `probe_limit`.
  /// If there are other machines, these are the ones that are probed.
  Workers(std::filesystem::path folder_of_tune, std::chrono::duration<double> probe_limit,
          OtherMachines* others = nullptr)
      : folder_(std::move(folder_of_tune)), probe_limit_(probe_limit), others_(others) {}

  /// Null if everything is done on this machine.
  OtherMachines* others() const { return others_; }

  /// The worker of a backend; nullopt if it is not installed.
  std::optional<std::filesystem::path> find(Backend backend) const;
  /// The worker of a backend. Throws Error(environment) if it is not installed.
  std::filesystem::path require(Backend backend) const;
  /// The answer of the worker's probe. Throws Error(environment) if it is not installed, does not start, or finds no
  /// device.
  const wire::Hello& probe(Backend backend);
  /// Does what `probe` does, but a worker that can build need not find a device: Hello::no_device tells why it does
  /// not.
  const wire::Hello& probe_compiler(Backend backend);
  /// The device that a probe with this environment finds. Throws what `probe` throws.
  Device describe(Backend backend, const std::map<std::string, std::string>& environment) const;
  /// The models of the devices of this machine, or of all that have agents; each once. Throws what `probe` throws.
  std::vector<std::string> models(Backend backend);
  /// From now on only agents of machines with devices of this model work. On this machine nothing changes. Throws
  /// Error(environment) if no such agent is left.
  void choose_model(Backend backend, const std::string& model);
  /// Whether the backend can run here.
  bool present(Backend backend);

 private:
  wire::Hello ask(Backend backend, const std::map<std::string, std::string>& environment) const;

  std::filesystem::path folder_;
  std::chrono::duration<double> probe_limit_;
  OtherMachines* others_;
  std::map<Backend, wire::Hello> hellos_;
};

}  // namespace tune::exec

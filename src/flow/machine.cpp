#include "flow/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/device_file.h"
#include "exec/devices.h"
#include "journal.h"
#include "model/values/error.h"

namespace tune::flow {

using Need = MachineRules::Need;

Machine::Machine(MachineRules rules, exec::Workers& workers) : rules_(std::move(rules)), workers_(&workers) {
  if (rules_.device_file) from_file_ = config::read_device(*rules_.device_file);
}

// What is only built is built for an architecture, and a dry run need not have the device.
std::optional<Device> Machine::limiting_device(Backend backend) {
  if (from_file_ || rules_.need == Need::compiler) return from_file_;
  try {
    return hello(backend).device;
  } catch (const Error& error) {
    if (rules_.need == Need::names && error.code() == ExitCode::environment) return std::nullopt;
    throw;
  }
}

// A worker that cannot even be probed may still not be needed: when the journal knows every spec, its device serves.
const wire::Hello& Machine::hello(Backend backend) {
  if (hello_) return *hello_;
  if (rules_.need == Need::compiler) return hello_.emplace(hello_for_building(backend));
  wire::Hello hello;
  try {
    hello = workers_->probe(backend);
    describe_chosen(hello);
  } catch (const Error& error) {
    if (error.code() != ExitCode::environment) throw;
    const auto last = Journal::last_run_of(rules_.journal);
    if (!last || last->hello.backend != backend) throw;
    probe_failure_ = error.what();
    return hello_.emplace(last->hello);
  }
  return hello_.emplace(std::move(hello));
}

// The probe describes the first device there is; the first that the user names may be of another model.
void Machine::describe_chosen(wire::Hello& hello) const {
  if (!rules_.devices) return;
  const exec::ChosenDevice device = exec::choose_devices(rules_.devices, hello).front();
  if (device.index > 0) hello.device = workers_->describe(hello.backend, device.environment);
}

// Building needs a compiler and the name of an architecture; a device only to take that name from.
wire::Hello Machine::hello_for_building(Backend backend) const {
  wire::Hello hello = workers_->probe_compiler(backend);
  if (hello.no_device.empty()) describe_chosen(hello);
  if (from_file_) hello.device = *from_file_;
  std::string& arch = hello.device.arch;
  if (rules_.arch && backend == Backend::cpu)
    throw Error(ExitCode::bad_input,
                "--arch is for CUDA, HIP and programs; on the CPU build.flags says it (-march=...)");
  if (rules_.arch) arch = *rules_.arch;
  if (arch.empty()) throw Error(ExitCode::environment, hello.no_device + "; say what to build for with --arch");
  if (!hello.archs.empty() && std::ranges::find(hello.archs, arch) == hello.archs.end())
    throw Error(ExitCode::bad_input, fmt::format("{} cannot build for '{}'; it knows {}", hello.compiler, arch,
                                                 fmt::join(hello.archs, " ")));
  if (hello.device.name.empty()) hello.device.name = arch;
  return hello;
}

}  // namespace tune::flow

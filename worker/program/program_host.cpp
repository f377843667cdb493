#include "program/program_host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "platform/process/process.h"
#include "program/program_command.h"

namespace tune::worker {
namespace {

std::string cpu_model(const std::string& otherwise) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return otherwise;  // not every architecture's kernel names the model
}

std::string output_of(Words argv) try {
  argv.emplace_back("--version");
  platform::Command command;
  command.argv = std::move(argv);
  command.own_group = false;
  const platform::Finished finished = platform::run(command);
  return finished.exit.clean() ? finished.output : "";
} catch (const platform::NoProgram&) {
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string last_line_of(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Device host_device() {
  utsname system{};
  ::uname(&system);
  Device device;
  device.name = cpu_model(system.machine);
  device.driver = system.release;
  device.properties["name"] = device.name;
  device.properties["cores"] = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  device.properties["memory_bytes"] =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  return device;
}

std::string compiler_versions() {
  const std::string versions[] = {
      first_line(output_of(command_from_environment("CXX", "c++"))),
      first_line(output_of(command_from_environment("CC", "cc"))),
      last_line_of(output_of({"nvcc"})),  // its first line is the same for all versions
      first_line(output_of({"hipcc"})),
  };
  std::string all;
  for (const auto& version : versions)
    if (!version.empty()) all += (all.empty() ? "" : "; ") + version;
  return all;
}

}  // namespace tune::worker

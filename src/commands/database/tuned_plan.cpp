#include "commands/database/tuned_plan.h"

#include <fmt/format.h>

#include "commands/installation.h"
#include "config/reader/device_file.h"
#include "model/routing.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

Device device_named(const std::string& name, const std::string& arch, Backend backend, exec::Workers& workers) {
  if (workers.find(backend)) {
    const wire::Hello& hello = workers.probe_compiler(backend);
    if (hello.no_device.empty() && hello.device.name == name) return hello.device;
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of_devices(), none))
    if (Device device = config::read_device(entry.path()); device.name == name) return device;
  Device device;
  device.name = name;
  device.arch = arch;
  return device;
}

/// `--problem` for an entry of a result's problem; empty: only the file can say it.
std::string problem_option(const std::string& name, const std::string& value) {
  if (name == "layout_a" || name == "layout_b")
    return fmt::format("rowMajor{}={}", name.back() == 'a' ? 'A' : 'B', value == "row" ? 'T' : 'N');
  return name == "layout_c" || (name == "routing" && is_of_list(value)) ? "" : fmt::format("{}={}", name, value);
}

}  // namespace

TunedPlan::TunedPlan(std::vector<std::filesystem::path> yamls, database::ResultGroup group, const std::string& device,
                     exec::Workers& workers)
    : yamls_(std::move(yamls)),
      group_(std::move(group)),
      backend_(backend_of(group_)),
      device_(device_named(device, group_.device.arch, backend_, workers)) {}

config::LoadSettings TunedPlan::load_settings(const database::Sizes& sizes) const {
  config::LoadSettings settings;
  settings.backend = backend_;
  if (is_program(backend_)) {
    settings.m = database::size_of(sizes, "m");
    settings.n = database::size_of(sizes, "n");
    settings.k = database::size_of(sizes, "k");
  } else {
    const auto routing = group_.problem.find("routing");
    const bool is_listed = routing != group_.problem.end() && is_of_list(routing->second);
    for (const auto& [name, size] : sizes)
      if (name != "groups" || !is_listed) settings.problem.push_back(fmt::format("{}={}", name, size));
    for (const auto& [name, value] : group_.problem)
      if (std::string option = problem_option(name, value); !option.empty())
        settings.problem.push_back(std::move(option));
  }
  return settings;
}

/// Throws Error(bad_input), of the file's name first if it is another kernel's, which may have another problem.
config::Loaded TunedPlan::load_theirs(config::LoadRules rules) const {
  const auto require_same_kernel = [&](const config::Loaded& loaded) {
    if (loaded.plan.name != group_.kernel)
      throw Error(ExitCode::bad_input, fmt::format("{}: this is the tuning file of '{}', and the results are of '{}'",
                                                   yamls_.front().string(), loaded.plan.name, group_.kernel));
  };
  std::optional<config::Loaded> loaded;
  try {
    loaded = config::load(yamls_, rules);
  } catch (const Error&) {
    rules.problem.clear();
    try {
      loaded = config::load(yamls_, rules);
    } catch (const Error&) {
      // It says less than the first: the results bring what is missing now.
    }
    if (loaded) require_same_kernel(*loaded);
    throw;
  }
  require_same_kernel(*loaded);
  return std::move(*loaded);
}

config::Loaded TunedPlan::at(const database::Sizes& sizes) const {
  config::LoadRules rules{load_settings(sizes)};
  rules.probe = [this](Backend) { return device_; };
  config::Loaded loaded = load_theirs(std::move(rules));
  database::ResultKey key;
  std::vector<Setting> none;
  database::set_problem(key, loaded.plan.problem, loaded.plan.constants, none);
  if (!is_program(backend_) && key.group.problem != group_.problem)
    throw Error(
        ExitCode::bad_input,
        fmt::format("{}: its problem is another one than that of the results, in layouts, factors, types, bias, "
                    "epilogue, residual, scales or the rows of groups",
                    yamls_.front().string()));
  return loaded;
}

std::optional<std::string> TunedPlan::misfit(const std::vector<Setting>& params, const database::Sizes& sizes) const
    try {
  const config::Loaded loaded = at(sizes);
  const auto spec = loaded.plan.space.at(params);
  const auto* rejection = std::get_if<Rejection>(&spec);
  return rejection != nullptr ? std::optional(rejection->reason) : std::nullopt;
} catch (const std::invalid_argument& error) {
  return error.what();
}

exec::RequestFactory TunedPlan::requests(const config::Loaded& loaded) const {
  wire::Hello hello;
  hello.backend = backend_;
  hello.device = device_;
  return {loaded.plan, hello, 0};
}

bool TunedPlan::has_their_source(const database::Sizes& sizes) const {
  if (group_.source.empty()) return true;
  const config::Loaded loaded = at(sizes);
  return requests(loaded).source_hash() == group_.source;
}

bool TunedPlan::share_binary(const std::vector<Setting>& params, const database::Sizes& a,
                             const database::Sizes& b) const {
  const config::Loaded one = at(a), other = at(b);
  return requests(one).build_key({-1, params}) == requests(other).build_key({-1, params});
}

}  // namespace tune::commands

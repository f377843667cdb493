#include "exec/device/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "model/values/error.h"
#include "model/values/text.h"

namespace tune::exec {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// A backend without a variable of its own has one device; stand-ins for its worker, which have several, look at
/// CUDA's.
const char* choice_variable(Backend backend) {
  const char* own = traits_of(backend).device_choice;
  return *own != '\0' ? own : "CUDA_VISIBLE_DEVICES";
}

// If the user has made only some devices visible, indices count those.
std::string visible_name(Backend backend, int index) {
  const char* visible = std::getenv(choice_variable(backend));
  const auto names = split(visible == nullptr ? "" : visible);
  return static_cast<std::size_t>(index) < names.size() ? names[static_cast<std::size_t>(index)]
                                                        : std::to_string(index);
}

/// Lets workers for CUDA open only this device.
void add_gpu(ChosenDevice& device, Backend backend) {
  if (backend == Backend::cuda && !device.id.empty()) device.environment["TUNE_GPU"] = device.id;
}

[[noreturn]] void complain(const std::string& names, const std::string& why, const wire::Hello& hello) {
  std::string text = fmt::format("--devices {}: {}", names, why);
  for (std::size_t i = 0; i < hello.devices.size(); ++i)
    text += fmt::format("\n  {}: {} ({})", i, hello.devices[i].name, hello.devices[i].id);
  throw Error(ExitCode::bad_input, text);
}

std::vector<int> parse_indices(const std::string& names, const wire::Hello& hello) {
  const int count = static_cast<int>(hello.devices.size());
  std::vector<int> indices;
  for (int i = 0; i < count; ++i)
    if (names == "all" || names == hello.devices[static_cast<std::size_t>(i)].name) indices.push_back(i);
  if (!indices.empty()) return indices;
  for (const std::string& name : split(names)) {
    const int index = number_from<int>(name).value_or(-1);
    if (index < 0 || index >= count) complain(names, fmt::format("there is no device '{}'; there are:", name), hello);
    if (std::ranges::find(indices, index) != indices.end())
      complain(names, fmt::format("device {} is named twice; there are:", index), hello);
    indices.push_back(index);
  }
  if (indices.empty()) complain(names, "this names no device; give `all`, a model, or indices such as 0,1, of:", hello);
  return indices;
}

}  // namespace

std::vector<ChosenDevice> choose_devices(const std::optional<std::string>& names, const wire::Hello& hello) {
  if (!names) {
    const wire::DeviceName first = hello.devices.empty() ? wire::DeviceName() : hello.devices.front();
    ChosenDevice chosen{0, first.id, first.one_process, {}};
    add_gpu(chosen, hello.backend);
    return {chosen};
  }
  if (hello.devices.empty())
    complain(*names, fmt::format("the {} backend has no devices to choose from", to_text(hello.backend)), hello);
  std::vector<ChosenDevice> chosen;
  for (const int index : parse_indices(*names, hello)) {
    const wire::DeviceName& device = hello.devices[static_cast<std::size_t>(index)];
    if (device.name != hello.devices[static_cast<std::size_t>(chosen.empty() ? index : chosen.front().index)].name)
      complain(*names,
               "devices of several models cannot be compared; name one model, or add --per-device-model:", hello);
    const std::map<std::string, std::string> visible = {
        {choice_variable(hello.backend), visible_name(hello.backend, index)}};
    add_gpu(chosen.emplace_back(ChosenDevice{index, device.id, device.one_process, visible}), hello.backend);
  }
  return chosen;
}

std::vector<std::string> models_of(const wire::Hello& hello) {
  if (hello.devices.empty()) return {hello.device.name};
  std::vector<std::string> models;
  for (const wire::DeviceName& device : hello.devices)
    if (std::ranges::find(models, device.name) == models.end()) models.push_back(device.name);
  return models;
}

}  // namespace tune::exec

#include "sensors/rocm_library.h"

#include <algorithm>
#include <cstdlib>

namespace tune::worker {
namespace {

// Before version 6 the lists of clocks were laid out differently.
constexpr const char* kRocmFiles[] = {"librocm_smi64.so.7", "librocm_smi64.so.6", "/opt/rocm/lib/librocm_smi64.so.7",
                                      "/opt/rocm/lib/librocm_smi64.so.6"};

}  // namespace

std::optional<std::uint64_t> rocm_number(const std::string& device_id) {
  constexpr std::size_t kDigits = 32;
  std::string hexadecimal, digits;
  for (std::size_t i = std::min(device_id.find('-'), device_id.size()); i < device_id.size(); ++i)
    if (device_id[i] != '-') hexadecimal += device_id[i];
  if (hexadecimal.size() != kDigits) return std::nullopt;
  for (std::size_t i = 0; i < kDigits; i += 2)
    digits += static_cast<char>(std::strtoul(hexadecimal.substr(i, 2).c_str(), nullptr, 16));
  char* end = nullptr;
  const std::uint64_t id = std::strtoull(digits.c_str(), &end, 16);
  return end == digits.c_str() + digits.size() ? std::optional(id) : std::nullopt;
}

std::optional<RocmLibrary> RocmLibrary::open(const std::string& device_id, std::string& why) {
  void* handle = nullptr;
  for (const char* file : kRocmFiles)
    if (handle == nullptr) handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  why = "AMD's management library (librocm_smi64.so.6 or .7) is missing; install ROCm's rocm-smi-lib";
  if (handle == nullptr) return std::nullopt;
  RocmLibrary library(handle);
  int (*init)(std::uint64_t flags) = nullptr;
  int (*count)(std::uint32_t*) = nullptr;
  int (*unique_id)(std::uint32_t device, std::uint64_t*) = nullptr;
  library.find(init, "rsmi_init");
  library.find(count, "rsmi_num_monitor_devices");
  library.find(unique_id, "rsmi_dev_unique_id_get");
  why = "AMD's management library (librocm_smi64) does not start";
  std::uint32_t devices = 0;
  if (init == nullptr || count == nullptr || unique_id == nullptr || init(0) != kRocmSuccess ||
      count(&devices) != kRocmSuccess)
    return std::nullopt;
  const auto wanted = rocm_number(device_id);
  for (std::uint64_t id = 0; wanted && library.device_ < devices; ++library.device_)
    if (unique_id(library.device_, &id) == kRocmSuccess && id == *wanted) return library;
  why = "AMD's management library does not know the device " + device_id;
  return std::nullopt;
}

}  // namespace tune::worker

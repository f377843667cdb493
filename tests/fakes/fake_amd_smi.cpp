// Stands in for AMD SMI (libamd_smi.so.26) on a machine with two sockets, of which the second has two devices; the last
// one is the card of fake_card.h. Structures are laid out as in the library's header.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fakes/fake_card.h"

namespace {

using tune::fake::Card;

constexpr int kSuccess = 0, kInvalid = 1, kNotSupported = 2;
int sockets[2], processors[3];

bool is_card(const void* processor) { return processor == &processors[2]; }

struct EnumerationInfo {
  std::uint32_t drm_render, drm_card, hsa_id, hip_id;
  char hip_uuid[64];
};
struct ClockInfo {
  std::uint32_t clk, min_clk, max_clk;
  std::uint8_t clk_locked, clk_deep_sleep;
  std::uint32_t reserved[4];
};
struct PowerInfo {
  std::uint64_t socket_power;
  std::uint32_t current_socket_power, average_socket_power;
  std::uint64_t gfx_voltage, soc_voltage, mem_voltage;
  std::uint32_t power_limit;
  std::uint64_t reserved[18];
};
struct PowerCapInfo {
  std::uint64_t power_cap, default_power_cap, dpm_cap, min_power_cap, max_power_cap, reserved[3];
};

int list(std::uint32_t* count, void** handles, int* first, std::uint32_t all) {
  if (handles != nullptr)
    for (std::uint32_t i = 0; i < all && i < *count; ++i) handles[i] = first + i;
  *count = all;
  return kSuccess;
}

}  // namespace

extern "C" {

int amdsmi_init(std::uint64_t flags) { return flags == 2 ? kSuccess : kInvalid; }
int amdsmi_get_socket_handles(std::uint32_t* count, void** handles) { return list(count, handles, sockets, 2); }
int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** handles) {
  return socket == &sockets[0] ? list(count, handles, processors, 1) : list(count, handles, processors + 1, 2);
}
int amdsmi_get_gpu_enumeration_info(void* processor, EnumerationInfo* info) {
  if (processor == &processors[0]) return kNotSupported;
  std::snprintf(info->hip_uuid, sizeof(info->hip_uuid), "GPU-%s", is_card(processor) ? "123456789abcdef" : "fedcba98");
  return kSuccess;
}
int amdsmi_get_clock_info(void* processor, int kind, ClockInfo* info) {
  if (!is_card(processor) || (kind != 0 && kind != 4)) return kNotSupported;
  std::memset(info, 0xff, sizeof(*info));
  info->clk = kind == 0 ? Card::read().sm_clock() : Card::read().memory_clock();
  return kSuccess;
}
int amdsmi_get_power_info(void* processor, PowerInfo* info) {
  if (!is_card(processor)) return kNotSupported;
  std::memset(info, 0xff, sizeof(*info));  // what a device does not tell
  info->average_socket_power = 321;
  return kSuccess;
}
int amdsmi_get_temp_metric(void* processor, int sensor, int metric, std::int64_t* celsius) {
  if (!is_card(processor) || sensor != 1 || metric != 0) return kNotSupported;
  *celsius = 61;
  return kSuccess;
}
int amdsmi_get_energy_count(void* processor, std::uint64_t* count, float* microjoules, std::uint64_t*) {
  if (!is_card(processor)) return kNotSupported;
  *microjoules = 15.25;
  *count = 2'000'000;
  return kSuccess;
}
int amdsmi_get_power_cap_info(void* processor, std::uint32_t sensor, PowerCapInfo* info) {
  if (!is_card(processor) || sensor != 0) return kNotSupported;
  std::memset(info, 0, sizeof(*info));
  info->power_cap = 1000ull * Card::read().milliwatts;
  return kSuccess;
}
}

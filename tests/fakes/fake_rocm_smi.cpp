// Stands in for AMD's management library (librocm_smi64.so.7), with the card of fake_card.h, whose clocks have two
// levels each. It does as the library does: a clock is chosen by a mask, and only at the performance level `manual`,
// which is the number in FAKE_CARD.level.
#include <cstdint>
#include <fstream>

#include "fakes/fake_card.h"

namespace {

using tune::fake::Card;

enum Status : int { kSuccess = 0, kInvalid = 1, kPermission = 4 };
constexpr int kManual = 3;
constexpr unsigned kSystem[] = {500, 1980};

struct Frequencies {
  bool has_deep_sleep;
  std::uint32_t count, current;
  std::uint64_t hertz[33];
};

int level() {
  int level = 0;
  std::ifstream(Card::variable("FAKE_CARD") + ".level") >> level;
  return level;
}

/// 0 if all are allowed.
unsigned chosen(std::uint64_t mask, const unsigned (&clocks)[2]) {
  return mask == 1 ? clocks[0] : mask == 2 ? clocks[1] : 0;
}

}  // namespace

extern "C" {

int rsmi_init(std::uint64_t) { return kSuccess; }
int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = 1;
  return kSuccess;
}
int rsmi_dev_unique_id_get(std::uint32_t, std::uint64_t* id) {
  *id = 0x0123456789abcdef;
  return kSuccess;
}
int rsmi_status_string(int status, const char** text) {
  *text = status == kPermission ? "RSMI_STATUS_PERMISSION" : "an error";
  return kSuccess;
}
int rsmi_dev_gpu_clk_freq_get(std::uint32_t, int kind, Frequencies* found) {
  found->count = 2;
  found->current = kind == 0 ? Card::read().sm != kSystem[0] : Card::read().memory != Card::kMemory[1];
  for (int i = 0; i < 2; ++i) found->hertz[i] = 1'000'000ull * (kind == 0 ? kSystem[i] : Card::kMemory[1 - i]);
  return kSuccess;
}
int rsmi_dev_gpu_clk_freq_set(std::uint32_t, int kind, std::uint64_t mask) {
  if (Card::refuses()) return kPermission;
  if (level() != kManual || mask == 0 || mask > 3) return kInvalid;
  Card card = Card::read();
  constexpr unsigned kMemory[] = {Card::kMemory[1], Card::kMemory[0]};
  (kind == 0 ? card.sm : card.memory) = kind == 0 ? chosen(mask, kSystem) : chosen(mask, kMemory);
  card.write("mask " + std::to_string(kind) + ' ' + std::to_string(mask));
  return kSuccess;
}
int rsmi_dev_perf_level_get(std::uint32_t, int* now) {
  *now = level();
  return kSuccess;
}
int rsmi_dev_perf_level_set(std::uint32_t, int wanted) {
  if (Card::refuses()) return kPermission;
  std::ofstream(Card::variable("FAKE_CARD") + ".level") << wanted << '\n';
  return kSuccess;
}
int rsmi_dev_power_ave_get(std::uint32_t, std::uint32_t, std::uint64_t* microwatts) {
  *microwatts = 321'500'000;
  return kSuccess;
}
int rsmi_dev_temp_metric_get(std::uint32_t, std::uint32_t, int, std::int64_t* millidegrees) {
  *millidegrees = 61'000;
  return kSuccess;
}
int rsmi_dev_energy_count_get(std::uint32_t, std::uint64_t* count, float* microjoules, std::uint64_t*) {
  *microjoules = 15.25;
  *count =
      std::getenv("FAKE_CARD") == nullptr ? 2'000'000 : static_cast<std::uint64_t>(Card::read().joules() / 15.25e-6);
  return kSuccess;
}
int rsmi_dev_power_cap_get(std::uint32_t, std::uint32_t, std::uint64_t* microwatts) {
  *microwatts = 1000ull * Card::read().milliwatts;
  return kSuccess;
}
int rsmi_dev_power_cap_range_get(std::uint32_t, std::uint32_t, std::uint64_t* most, std::uint64_t* least) {
  *most = 1000ull * Card::kMostMilliwatts;
  *least = 1000ull * Card::kLeastMilliwatts;
  return kSuccess;
}
int rsmi_dev_power_cap_set(std::uint32_t, std::uint32_t, std::uint64_t microwatts) {
  if (Card::refuses()) return kPermission;
  Card card = Card::read();
  card.milliwatts = static_cast<unsigned>(microwatts / 1000);
  card.write("power " + std::to_string(card.milliwatts));
  return kSuccess;
}
}

// Stands in for NVIDIA's management library (libnvidia-ml.so.1), with the card of fake_card.h. It knows every UUID. The
// card's power has a little noise.
#include <cmath>
#include <string>

#include "fakes/fake_card.h"

namespace {

using tune::fake::Card;

enum Status : int { kSuccess = 0, kInvalid = 2, kNotSupported = 3, kNoPermission = 4, kTooSmall = 7, kLost = 15 };

template <typename Change>
int change(const std::string& what, Change change) {
  if (Card::lost()) return kLost;
  if (Card::refuses()) return kNoPermission;
  Card card = Card::read();
  change(card);
  card.write(what);
  return kSuccess;
}

double power_w() {
  const Card card = Card::read();
  return card.watts() * (1 + 0.002 * std::sin(static_cast<double>(::getpid()) + card.sm_clock()));
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
const char* nvmlErrorString(int status) {
  return status == kNoPermission ? "Insufficient Permissions" : status == kLost ? "GPU is lost" : "Unknown Error";
}
int nvmlDeviceGetHandleByUUID(const char*, void** device) {
  *device = nullptr;
  return kSuccess;
}
int nvmlDeviceGetSupportedMemoryClocks(void*, unsigned* count, unsigned* mhz) {
  if (*count < 2) return kTooSmall;
  *count = 2;
  mhz[0] = Card::kMemory[0];
  mhz[1] = Card::kMemory[1];
  return kSuccess;
}
int nvmlDeviceGetSupportedGraphicsClocks(void*, unsigned, unsigned* count, unsigned* mhz) {
  const unsigned all = (Card::kHighest - Card::kLowest) / Card::kStep + 1;
  if (*count < all) return kTooSmall;
  *count = all;
  for (unsigned i = 0; i < all; ++i) mhz[i] = Card::kHighest - i * Card::kStep;
  return kSuccess;
}
int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* least, unsigned* most) {
  *least = Card::kLeastMilliwatts;
  *most = Card::kMostMilliwatts;
  return kSuccess;
}
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* milliwatts) {
  *milliwatts = Card::read().milliwatts;
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = Card::read().milliwatts;
  return kSuccess;
}
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) {
  *mhz = kind == 1 ? Card::read().sm_clock() : Card::read().memory_clock();
  return Card::lost() ? kLost : kSuccess;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = static_cast<unsigned>(1e3 * power_w());
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  constexpr unsigned kPowerCap = 4;
  const Card card = Card::read();
  *bits = card.sm > card.sm_clock() ? kPowerCap : 0;
  return kSuccess;
}
int nvmlDeviceSetGpuLockedClocks(void*, unsigned least, unsigned most) {
  if (Card::is_old()) return kNotSupported;
  if (least > most) return kInvalid;
  return change("sm " + std::to_string(most), [&](Card& card) { card.sm = most; });
}
int nvmlDeviceResetGpuLockedClocks(void*) {
  if (Card::is_old()) return kNotSupported;
  return change("sm free", [](Card& card) { card.sm = 0; });
}
int nvmlDeviceSetMemoryLockedClocks(void*, unsigned, unsigned most) {
  if (Card::is_old()) return kNotSupported;
  return change("memory " + std::to_string(most), [&](Card& card) { card.memory = most; });
}
int nvmlDeviceResetMemoryLockedClocks(void*) {
  if (Card::is_old()) return kNotSupported;
  return change("memory free", [](Card& card) { card.memory = 0; });
}
int nvmlDeviceGetApplicationsClock(void*, int kind, unsigned* mhz) {
  const Card card = Card::read();
  if (kind == 1) *mhz = card.sm == 0 ? Card::kHighest : card.sm;
  if (kind == 2) *mhz = card.memory_clock();
  return kind == 1 || kind == 2 ? kSuccess : kInvalid;
}
int nvmlDeviceSetApplicationsClocks(void*, unsigned memory, unsigned sm) {
  return change("applications " + std::to_string(memory) + ' ' + std::to_string(sm), [&](Card& card) {
    card.sm = sm == Card::kHighest ? 0 : sm;
    card.memory = memory == Card::kMemory[0] ? 0 : memory;
  });
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = static_cast<unsigned long long>(1e3 * Card::read().joules());
  return kSuccess;
}
int nvmlDeviceSetPowerManagementLimit(void*, unsigned milliwatts) {
  if (milliwatts < Card::kLeastMilliwatts || milliwatts > Card::kMostMilliwatts) return kInvalid;
  return change("power " + std::to_string(milliwatts), [&](Card& card) { card.milliwatts = milliwatts; });
}
}

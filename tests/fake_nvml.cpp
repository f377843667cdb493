// Stands in for NVIDIA's management library (libnvidia-ml.so.1), with the card of fake_card.h. It knows every UUID. The
// card's power is static plus dynamic, with a voltage that rises beyond 1350 MHz, and a little noise.
#include <algorithm>
#include <cmath>
#include <string>

#include "fake_card.h"

namespace {

using tune::fake::Card;

enum Status : int { kSuccess = 0, kInvalid = 2, kNoPermission = 4, kTooSmall = 7, kLost = 15 };

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
  const double mhz = Card::read().sm_clock(), volts = 1 + std::max(0.0, mhz - 1350) / 1350;
  const double noise = 1 + 0.002 * std::sin(static_cast<double>(::getpid()) + mhz);
  return noise * (80 + 0.16 * mhz * volts * volts);
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
  if (least > most) return kInvalid;
  return change("sm " + std::to_string(most), [&](Card& card) { card.sm = most; });
}
int nvmlDeviceResetGpuLockedClocks(void*) {
  return change("sm free", [](Card& card) { card.sm = 0; });
}
int nvmlDeviceSetMemoryLockedClocks(void*, unsigned, unsigned most) {
  return change("memory " + std::to_string(most), [&](Card& card) { card.memory = most; });
}
int nvmlDeviceResetMemoryLockedClocks(void*) {
  return change("memory free", [](Card& card) { card.memory = 0; });
}
int nvmlDeviceSetPowerManagementLimit(void*, unsigned milliwatts) {
  if (milliwatts < Card::kLeastMilliwatts || milliwatts > Card::kMostMilliwatts) return kInvalid;
  return change("power " + std::to_string(milliwatts), [&](Card& card) { card.milliwatts = milliwatts; });
}
}

#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

namespace tune::fake {

/// A card whose clocks can be set, for the stand-ins of management libraries: one for all processes that name the same
/// file in FAKE_CARD. Its settings are in that file, and what was set is in FAKE_CARD.log, a line each. FAKE_REFUSES:
/// nothing may be set. FAKE_OLD: clocks cannot be locked, but applications have clocks of their own. FAKE_LOST: the
/// name of a file; once it is there, the card is gone. FAKE_HOLDS: MHz that the SM clock does not exceed, whatever it
/// is set to.
struct Card {
  static constexpr unsigned kHighest = 1980, kLowest = 210, kStep = 15, kMemory[] = {2619, 1593};
  static constexpr unsigned kMostMilliwatts = 700'000, kLeastMilliwatts = 200'000;

  unsigned sm = 0, memory = 0;  ///< MHz; 0: free
  unsigned milliwatts = kMostMilliwatts;

  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }
  static Card read() {
    Card card;
    std::ifstream(variable("FAKE_CARD")) >> card.sm >> card.memory >> card.milliwatts;
    return card;
  }
  static bool lost() { return !variable("FAKE_LOST").empty() && ::access(variable("FAKE_LOST").c_str(), F_OK) == 0; }
  static bool is_old() { return std::getenv("FAKE_OLD") != nullptr; }
  static bool refuses() { return std::getenv("FAKE_REFUSES") != nullptr; }

  void write(const std::string& what) const {
    std::ofstream(variable("FAKE_CARD")) << sm << ' ' << memory << ' ' << milliwatts << '\n';
    std::ofstream(variable("FAKE_CARD") + ".log", std::ios::app) << what << '\n';
  }
  unsigned sm_clock() const {
    const unsigned clock = sm == 0 ? kHighest : sm;
    const std::string most = variable("FAKE_HOLDS");
    return most.empty() || clock < std::stoul(most) ? clock : static_cast<unsigned>(std::stoul(most));
  }
  /// Static and dynamic, with a voltage that rises beyond 1350 MHz.
  double watts() const {
    const double volts = 1 + std::max(0.0, sm_clock() - 1350.0) / 1350;
    return 80 + 0.16 * sm_clock() * volts * volts;
  }
  /// A counter that steps ten times a second, as if the card had always had the present clock.
  double joules() const {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    using Tenths = std::chrono::duration<std::int64_t, std::deci>;
    return watts() * 0.1 * static_cast<double>(std::chrono::duration_cast<Tenths>(now).count());
  }
  unsigned memory_clock() const { return memory == 0 ? kMemory[0] : memory; }
};

}  // namespace tune::fake

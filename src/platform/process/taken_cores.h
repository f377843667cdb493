#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace tune::platform {

/// How many threads other than the caller run at this moment on the cores that this process may use; of a part of the
/// machine's cores, their share. nullopt if the system does not tell.
std::optional<double> others_running();

/// For how many seconds, of all cores that this process may use together, the host of this virtual machine has let
/// something else run on them since the machine started, in steps of 10 ms; of a part of the machine's cores, their
/// share. 0 if the system does not tell, or there is no host. `file` is read as /proc/stat.
double stolen_seconds(const std::string& file = "/proc/stat");

/// What the host has taken in some time.
struct Stolen {
  double seconds = 0;  ///< as stolen_seconds
  double cores = 0;    ///< on average
};

/// Measures that from its construction on.
class StolenTime {
 public:
  Stolen so_far() const;

 private:
  double before_ = stolen_seconds();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// For how many seconds other programs than this process and its descendants have computed since the machine started.
/// What these ask a server to do counts as another program's. nullopt if the system does not tell. `file` is read as
/// /proc/stat.
std::optional<double> seconds_of_others(const std::string& file = "/proc/stat");

/// What other programs take of the cores, from its construction on.
class TimeOfOthers {
 public:
  /// How many cores they had on average, of those that this process may use; of a part of the machine's cores, their
  /// share. nullopt if the system does not tell.
  std::optional<double> cores() const;

 private:
  std::optional<double> before_ = seconds_of_others();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tune::platform

#pragma once
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace tune::fake {

/// A machine's folder /sys, as far as RAPL and cpufreq are concerned, for tests that name it in TUNE_SYSFS: two
/// packages whose counters are about to begin anew, and what is not to be added to them; a policy for every processor.
class Machine {
 public:
  static constexpr long long kRange = 262'143'328'850;                        ///< microjoules
  static constexpr long long kLowest = 800'000, kHighest = 3'600'000;         ///< kHz
  static constexpr const char* kUnreadable = "/proc/sys/vm/compact_memory";   ///< not even by root
  static constexpr const char* kUnwritable = "/proc/sys/kernel/ngroups_max";  ///< not even by root

  explicit Machine(std::filesystem::path root) : root_(std::move(root)) {
    for (const char* package : {"intel-rapl:0", "intel-rapl:1"}) {
      add_domain(package, "package-" + std::string(1, *(std::string(package).end() - 1)), kRange - 100'000);
      write(powercap(package) / "constraint_0_power_limit_uw", 95'000'000);
      write(powercap(package) / "constraint_0_max_power_uw", 125'000'000);
    }
    add_domain("intel-rapl:0:0", "core", 7);
    add_domain("intel-rapl:2", "psys", 7);
    add_domain("intel-rapl-mmio:0", "package-0", 7);
    for (long i = 0; i < ::sysconf(_SC_NPROCESSORS_CONF); ++i) add_processor(i);
  }

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path powercap(const std::string& domain) const { return root_ / "class/powercap" / domain; }
  std::filesystem::path policy(long number = 0) const {
    return root_ / "devices/system/cpu/cpufreq" / ("policy" + std::to_string(number));
  }
  static void write(const std::filesystem::path& file, long long value) {
    const std::filesystem::path next = file.string() + ".next";
    std::ofstream(next) << value << '\n';
    std::filesystem::rename(next, file);
  }
  static long long read(const std::filesystem::path& file) {
    long long value = 0;
    std::ifstream(file) >> value;
    return value;
  }
  /// Whether no clock and no power limit is set.
  bool is_free() const {
    return read(policy() / "scaling_min_freq") == kLowest && read(policy() / "scaling_max_freq") == kHighest &&
           read(powercap("intel-rapl:1") / "constraint_0_power_limit_uw") == 95'000'000;
  }

 private:
  void add_domain(const std::string& domain, const std::string& name, long long microjoules) const {
    std::filesystem::create_directories(powercap(domain));
    std::ofstream(powercap(domain) / "name") << name << '\n';
    write(powercap(domain) / "energy_uj", microjoules);
    write(powercap(domain) / "max_energy_range_uj", kRange);
  }
  void add_processor(long number) const {
    const std::filesystem::path folder = policy(number), processor = folder.parent_path().parent_path();
    std::filesystem::create_directories(folder);
    write(folder / "affected_cpus", number);
    for (const char* file : {"cpuinfo_min_freq", "scaling_min_freq"}) write(folder / file, kLowest);
    for (const char* file : {"cpuinfo_max_freq", "scaling_max_freq", "scaling_cur_freq"})
      write(folder / file, kHighest);
    std::filesystem::create_directories(processor / ("cpu" + std::to_string(number)));
    std::filesystem::create_directory_symlink(folder, processor / ("cpu" + std::to_string(number)) / "cpufreq");
  }

  std::filesystem::path root_;
};

/// What a machine's hardware does while it is there: all processors run at the highest clock that is allowed, or at
/// `most`, and each package takes 10 W and 20 W more for each GHz.
class Hardware {
 public:
  explicit Hardware(const Machine& machine, long long most = Machine::kHighest)
      : thread_([this, &machine, most] { run(machine, most); }) {}
  ~Hardware() {
    ends_ = true;
    thread_.join();
  }
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  static double watts(long long khz) { return 10 + 20e-6 * static_cast<double>(khz); }

 private:
  void run(const Machine& machine, long long most) const {
    using Clock = std::chrono::steady_clock;
    double microjoules = static_cast<double>(Machine::kRange - 100'000);
    for (auto before = Clock::now(); !ends_; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
      const long long khz = std::min(Machine::read(machine.policy() / "scaling_max_freq"), most);
      const auto now = Clock::now();
      if (khz > 0) microjoules += 1e6 * watts(khz) * std::chrono::duration<double>(now - before).count();
      before = now;
      if (microjoules > static_cast<double>(Machine::kRange)) microjoules -= static_cast<double>(Machine::kRange);
      for (const char* package : {"intel-rapl:0", "intel-rapl:1"})
        Machine::write(machine.powercap(package) / "energy_uj", static_cast<long long>(microjoules));
      for (long i = 0; khz > 0 && i < ::sysconf(_SC_NPROCESSORS_CONF); ++i)
        Machine::write(machine.policy(i) / "scaling_cur_freq", khz);
    }
  }

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace tune::fake

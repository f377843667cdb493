// Kills runs at random moments, and now and then one of their workers, lets the same command continue, and checks what
// must hold whatever happened.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <list>
#include <map>
#include <stdexcept>
#include <thread>

#include "victim.h"

namespace tune::cli {
namespace {

constexpr const char* kHelp =
    R"(Kills runs of tune at random moments and checks what must hold.

  campaign_kills [--kills N] [--seconds S] [--neighbours N] [--seed S]

  --kills N       ends after so many kills (default: as many as there is time for)
  --seconds S     begins nothing new after this time (default: no limit with --kills, else 10)
  --neighbours N  so many others tune and are killed at the same time, while the build store is cleared (default 0)
  --seed S        of the moments and signals (default 1)
)";

struct Options {
  std::int64_t kills = 0;  ///< 0: no limit
  std::int64_t seconds = 0;
  std::int64_t neighbours = 0;
  std::int64_t seed = 1;
};

/// Looks after the build store while others use it. Now and then that is killed.
class StoreKeeper {
 public:
  StoreKeeper(const Machine& machine, std::uint64_t seed) : machine_(&machine), random_(seed) {
    machine.equip(sandbox_);
  }

  void run() {
    while (machine_->more()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(kMostPause)));
      look_after();
    }
  }

  std::int64_t commands() const { return commands_; }

 private:
  static constexpr std::uint64_t kMostPause = 3000, kMostLife = 20;  // milliseconds

  void look_after() {
    constexpr std::array kCommands = {"clear", "clear", "verify", "info"};
    const std::string what = kCommands[random_.below(kCommands.size())];
    Background care(sandbox_, {"cache", what});
    ++commands_;
    if (random_.below(4) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(kMostLife * 1000)));
      return care.signal(SIGKILL);
    }
    const Result result = care.wait();
    require(result.code == 0,
            fmt::format("tune cache {} ends with {}: {}{}", what, result.code, result.out, result.err));
  }

  const Machine* machine_;
  Sandbox sandbox_;
  Random random_;
  std::int64_t commands_ = 0;
};

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : machine_({options.kills, options.seconds}, 1 + options.neighbours), keeper_(machine_, seed_of(options, -1)) {
    for (std::int64_t i = 0; i <= options.neighbours; ++i) victims_.emplace_back(machine_, seed_of(options, i));
  }

  void run() {
    for (Subject& subject : machine_.subjects) victims_.front().learn(subject);
    run_side_by_side();
    if (machine_.is_shared()) victims_.front().require_tidy_after_next();
  }

  std::string summary() const {
    Counts counts;
    for (const Victim& victim : victims_) counts += victim.counts();
    const std::string neighbours =
        fmt::format("; {} runs were refused because another had the journal, and {} commands looked after the store",
                    counts.refused, keeper_.commands());
    return fmt::format(
        "{} kills of runs and {} of workers in {} tunings, {:.0f} s: {} trials, {} of them failed because of a kill "
        "and were tried again; slowest end after a kill {:.2f} s{}",
        counts.kills, counts.worker_kills, counts.journals, machine_.seconds(), counts.trials, counts.failed,
        counts.slowest.count(), machine_.is_shared() ? neighbours : "");
  }

 private:
  static std::uint64_t seed_of(const Options& options, std::int64_t which) {
    return static_cast<std::uint64_t>(options.seed) + (static_cast<std::uint64_t>(which) << 32);
  }

  /// Throws what one of them has found, when all have ended.
  void run_side_by_side() {
    std::list<std::future<void>> ends;
    for (Victim& victim : victims_) ends.push_back(begin(victim));
    if (machine_.is_shared()) ends.push_back(begin(keeper_));
    for (std::future<void>& end : ends) end.get();
  }

  template <typename Runner>
  std::future<void> begin(Runner& runner) {
    return std::async(std::launch::async, [this, &runner] {
      try {
        runner.run();
      } catch (...) {
        machine_.stop();
        throw;
      }
    });
  }

  Machine machine_;
  std::list<Victim> victims_;
  StoreKeeper keeper_;
};

std::int64_t number(const char* text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end == text || *end != 0 || value < 0) throw std::invalid_argument(text);
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::int64_t Options::*> known = {{"--kills", &Options::kills},
                                                                {"--seconds", &Options::seconds},
                                                                {"--neighbours", &Options::neighbours},
                                                                {"--seed", &Options::seed}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = known.find(argv[i]);
    if (option == known.end() || i + 1 == argc) throw std::invalid_argument(argv[i]);
    options.*option->second = number(argv[i + 1]);
  }
  if (options.kills == 0 && options.seconds == 0) options.seconds = 10;
  return options;
}

}  // namespace
}  // namespace tune::cli

int main(int argc, char** argv) {
  using namespace tune::cli;
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::invalid_argument&) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  Campaign campaign(options);
  try {
    campaign.run();
  } catch (const std::exception& broken) {
    std::printf("broken: %s\nafter %s\nrepeat it with --neighbours %jd --seed %jd\n", broken.what(),
                campaign.summary().c_str(), static_cast<std::intmax_t>(options.neighbours),
                static_cast<std::intmax_t>(options.seed));
    return 1;
  }
  std::printf("kills: %s (seed %jd)\n", campaign.summary().c_str(), static_cast<std::intmax_t>(options.seed));
  return 0;
}

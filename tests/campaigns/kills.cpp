// Kills runs at random moments, and now and then one of their workers, lets the same command continue, and checks what
// must hold whatever happened.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "victim.h"

namespace tune::cli {
namespace {

constexpr const char* kHelp =
    R"(Kills runs of tune at random moments and checks what must hold.

  campaign_kills [--kills N] [--seconds S] [--seed S]

  --kills N    ends after so many kills (default: as many as there is time for)
  --seconds S  begins nothing new after this time (default: no limit with --kills, else 10)
  --seed S     of the moments and signals (default 1)
)";

struct Options {
  std::int64_t kills = 0;  ///< 0: no limit
  std::int64_t seconds = 0;
  std::int64_t seed = 1;
};

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : machine_({options.kills, options.seconds}), victim_(machine_, static_cast<std::uint64_t>(options.seed)) {}

  void run() {
    for (Subject& subject : machine_.subjects) victim_.learn(subject);
    victim_.run();
  }

  std::string summary() const {
    const Counts& counts = victim_.counts();
    return fmt::format(
        "{} kills of runs and {} of workers in {} tunings, {:.0f} s: {} trials, {} of them failed because of a kill "
        "and were tried again; slowest end after a kill {:.2f} s",
        counts.kills, counts.worker_kills, counts.journals, machine_.seconds(), counts.trials, counts.failed,
        counts.slowest.count());
  }

 private:
  Machine machine_;
  Victim victim_;
};

std::int64_t number(const char* text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end == text || *end != 0 || value < 0) throw std::invalid_argument(text);
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::int64_t Options::*> known = {
      {"--kills", &Options::kills}, {"--seconds", &Options::seconds}, {"--seed", &Options::seed}};
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
    std::printf("broken: %s\nafter %s\nrepeat it with --seed %jd\n", broken.what(), campaign.summary().c_str(),
                static_cast<std::intmax_t>(options.seed));
    return 1;
  }
  std::printf("kills: %s (seed %jd)\n", campaign.summary().c_str(), static_cast<std::intmax_t>(options.seed));
  return 0;
}

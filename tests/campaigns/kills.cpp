// Kills runs at random moments, and now and then one of their workers, lets the same command continue, and checks what
// must hold whatever happened: no trial is lost or made twice, nothing keeps running, nothing hangs, nothing is left,
// and the winner is the one of a run that nobody disturbed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "model/values/random.h"
#include "support/cli.h"

namespace tune::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kHelp =
    R"(Kills runs of tune at random moments and checks what must hold.

  campaign_kills [--kills N] [--seconds S] [--seed S]

  --kills N    ends after so many kills (default: as many as there is time for)
  --seconds S  begins nothing new after this time (default: no limit with --kills, else 10)
  --seed S     of the moments and signals (default 1)
)";

constexpr auto kMostToEnd = std::chrono::seconds(10);
constexpr auto kPauseOfMachine = std::chrono::seconds(1);

struct Options {
  std::int64_t kills = 0;  ///< 0: no limit
  std::int64_t seconds = 0;
  std::int64_t seed = 1;
};

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

/// A tuning file and what is known of its results.
struct Subject {
  const char* yaml;
  std::size_t specs;
  std::int64_t winner;  ///< mesh_idx; -1: it follows from times that are real
};

// A program that takes a while and says what follows from its parameters: spec 6, X = 3 and Y = 1, is the fastest.
constexpr const char* kScript = R"(#!/bin/sh
for word in "$@"; do
  case $word in
    --X=*) x=${word#--X=} ;;
    --Y=*) y=${word#--Y=} ;;
  esac
done
sleep 0.01
d=$((x - 3)); e=$((y - 1))
echo "{\"time\": 1.$((d * d * 4 + e * e))e-3, \"ok\": true}"
)";
constexpr const char* kProgram =
    "{name: program, file: program.sh, params: {$X: {range: [1, 6]}, $Y: {range: [1, 3]}}, measure: {cutoff: 0}}\n";

constexpr const char* kKernel = R"(
extern "C" int tile() { return BM; }
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
)";
constexpr const char* kGemm =
    "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
    "params: {BM: [1, 2, 3, 4], $R: {range: [1, 4]}}, launch: {args: [A, B, C, m, n, k]},\n"
    "measure: {max_seconds: 0.005, cutoff: 0}}\n";

constexpr std::array<Subject, 2> kSubjects = {Subject{"program.yaml", 18, 6}, Subject{"gemm.yaml", 16, -1}};

// Of a process that ends meanwhile, what was read before.
std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string whole_lines(const fs::path& path) {
  std::string text = slurp(path);
  text.resize(text.rfind('\n') + 1);
  return text;
}

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : options_(options), random_(static_cast<std::uint64_t>(options.seed)), began_(Clock::now()) {
    fs::permissions(sandbox_.write("program.sh", kScript), fs::perms::owner_all);
    sandbox_.write("program.yaml", kProgram);
    sandbox_.write("gemm.cpp", kKernel);
    sandbox_.write("gemm.yaml", kGemm);
    fs::create_directory(sandbox_.folder() / "tmp");
    sandbox_.environment["TMPDIR"] = (sandbox_.folder() / "tmp").string();
  }

  void run() {
    for (const Subject& subject : kSubjects) learn(subject);
    while (more()) tune_with_kills(kSubjects[static_cast<std::size_t>(journals_) % kSubjects.size()]);
  }

  std::string summary() const {
    return fmt::format(
        "{} kills of runs and {} of workers in {} tunings, {:.0f} s: {} trials, {} of them failed because of a kill "
        "and were tried again; slowest end after a kill {:.2f} s",
        kills_, worker_kills_, journals_, std::chrono::duration<double>(Clock::now() - began_).count(), trials_,
        failed_, slowest_.count());
  }

 private:
  bool more() const {
    const bool in_time = options_.seconds == 0 || Clock::now() - began_ < std::chrono::seconds(options_.seconds);
    return in_time && (options_.kills == 0 || kills_ < options_.kills);
  }

  static std::vector<std::string> command(const Subject& subject, const std::string& output) {
    return {subject.yaml, "--tune", "--quiet", "--output", output};
  }

  /// How long an undisturbed run takes, and that it names the winner.
  void learn(const Subject& subject) {
    const auto begin = Clock::now();
    const Result result = sandbox_.tune(command(subject, std::string("learn-") + subject.yaml));
    require(result.code == 0, "a run that nobody disturbs fails: " + result.err);
    seconds_[subject.yaml] = std::chrono::duration<double>(Clock::now() - begin).count();
    require_winner(subject, result);
  }

  static void require_winner(const Subject& subject, const Result& result) {
    const std::string line = "top_spec_idx: " + (subject.winner < 0 ? "" : std::to_string(subject.winner) + "\n");
    require(result.out.find(line) != std::string::npos, "another winner than " + line + result.out + result.err);
  }

  /// One journal, and a store without artifacts: kills until the run gets through before the next one, then an
  /// undisturbed run.
  void tune_with_kills(const Subject& subject) {
    fs::remove_all(sandbox_.folder() / "cache");
    const std::string output = "out" + std::to_string(journals_++);
    const fs::path journal = sandbox_.folder() / (output + ".jsonl");
    constexpr int kMostKills = 12;
    bool through = false;
    for (int kill = 0; kill < kMostKills && !through && more(); ++kill) {
      const std::string before = whole_lines(journal);
      try {
        through = start_and_kill(subject, output);
      } catch (const std::system_error&) {
        std::this_thread::sleep_for(kPauseOfMachine);
      }
      require(slurp(journal).starts_with(before), "the journal lost lines");
    }
    require_complete(subject, output);
  }

  /// Whether it ended before it was killed.
  bool start_and_kill(const Subject& subject, const std::string& output) {
    Background run(sandbox_, command(subject, output));
    const auto most = static_cast<std::uint64_t>(seconds_[subject.yaml] * 1e6);
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(most)));
    if (random_.below(4) == 0) kill_a_worker();
    if (run.ended()) return true;
    const int signal = any_of({SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP});
    run.signal(signal);
    if (signal == SIGSTOP) run.signal(SIGKILL);
    ++kills_;
    const auto begin = Clock::now();
    await([&] { return run.ended(); }, "a run that was sent signal " + std::to_string(signal) + " goes on");
    await([&] { return sandbox_.processes().empty(); }, "processes of a run that was killed go on");
    slowest_ = std::max(slowest_, std::chrono::duration<double>(Clock::now() - begin));
    run.wait();
    return false;
  }

  template <typename Condition>
  static void await(Condition holds, const std::string& what) {
    const auto end = Clock::now() + kMostToEnd;
    while (!holds()) {
      require(Clock::now() < end, what + " after 10 s");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  int any_of(std::initializer_list<int> values) { return values.begin()[random_.below(values.size())]; }

  /// One of the processes that the run has started, directly or not.
  void kill_a_worker() {
    std::vector<pid_t> workers;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const std::string name = entry.path().filename().string();
      pid_t process = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc()) continue;
      if (slurp(entry.path() / "environ").find(sandbox_.folder().string()) == std::string::npos) continue;
      if (slurp(entry.path() / "comm") != "tune\n") workers.push_back(process);
    }
    if (workers.empty()) return;
    const int signal = any_of({SIGKILL, SIGSEGV, SIGTERM, SIGABRT});
    ::kill(workers[random_.below(workers.size())], signal);
    ++worker_kills_;
    std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(50)));
  }

  Result run_undisturbed(const Subject& subject, const std::vector<std::string>& words) const {
    Background run(sandbox_, words);
    const auto most = kMostToEnd + std::chrono::duration<double>(3 * seconds_.at(subject.yaml));
    const auto begin = Clock::now();
    while (!run.ended()) {
      require(Clock::now() - begin < most, "a run that nobody disturbs hangs");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return run.wait();
  }

  /// Nor the machine: where another has used up its processes, it is waited for.
  static bool lacks_processes(const Result& result) {
    const bool lacks = result.err.find(std::strerror(EAGAIN)) != std::string::npos;
    if (lacks) std::this_thread::sleep_for(kPauseOfMachine);
    return lacks;
  }

  /// After a run that nobody disturbs. What failed did so because something was killed, and may be tried again.
  void require_complete(const Subject& subject, const std::string& output) {
    const std::set<fs::path> scratch = abandoned_scratch();
    std::vector<std::string> words = command(subject, output);
    words.emplace_back("--retry-failed");
    Result result = run_undisturbed(subject, words);
    for (int again = 0; again < 30 && lacks_processes(result); ++again) result = run_undisturbed(subject, words);
    require(result.code == 0, fmt::format("the last run ends with {}: {}", result.code, result.err));
    require_winner(subject, result);
    require_trials(subject, output);
    // A run that all is known of tidies nothing up; the next one that measures does.
    const Result next = sandbox_.tune({"gemm.yaml", "--spec", "0", "--quiet", "--output", "next-" + output});
    require(next.code == 0 || lacks_processes(next), "the next run fails: " + next.err);
    if (next.code != 0) return;
    for (const fs::path& folder : scratch) require(!fs::exists(folder), folder.string() + " is left");
    require(fs::is_empty(sandbox_.folder() / "tmp"), "something is left in TMPDIR");
    require(unfinished_builds() == 0, "folders of unfinished builds are left in the store");
    require_nothing_to_do(subject, output);
  }

  /// Each spec was measured once, and failed only before that.
  void require_trials(const Subject& subject, const std::string& output) {
    std::map<std::string, int> measured;
    for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl")) {
      ++trials_;
      const bool failed = record.trial.failure() != nullptr;
      failed_ += failed ? 1 : 0;
      require(!failed || measured[record.id] == 0, "a spec that was measured was tried again");
      measured[record.id] += failed ? 0 : 1;
    }
    require(measured.size() == subject.specs, fmt::format("{} specs of {}", measured.size(), subject.specs));
    for (const auto& [id, times] : measured)
      require(times == 1, fmt::format("spec {} was measured {} times", id, times));
  }

  void require_nothing_to_do(const Subject& subject, const std::string& output) {
    const std::string before = sandbox_.read(output + ".jsonl");
    const Result again = sandbox_.tune(command(subject, output));
    require_winner(subject, again);
    std::istringstream added(sandbox_.read(output + ".jsonl").substr(before.size()));
    for (std::string line; std::getline(added, line);)
      require(line.find("\"record\":\"run\"") != std::string::npos ||
                  line.find("\"record\":\"results\"") != std::string::npos,
              "a finished tuning does more: " + line);
  }

  std::ptrdiff_t unfinished_builds() const {
    std::error_code ignored;
    return std::count_if(fs::directory_iterator(sandbox_.folder() / "cache/tune/store", ignored), {},
                         [](const auto& entry) { return entry.path().filename().string().starts_with("tmp."); });
  }

  Options options_;
  Sandbox sandbox_;
  Random random_;
  Clock::time_point began_;
  std::map<std::string, double> seconds_;  ///< of an undisturbed run
  std::int64_t kills_ = 0, worker_kills_ = 0, journals_ = 0, trials_ = 0, failed_ = 0;
  std::chrono::duration<double> slowest_{0};
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

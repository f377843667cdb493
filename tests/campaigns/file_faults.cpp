// Random faults of the file system under the real binary: full, read-only, slow disks, errors and short writes at
// random calls. Each run starts from complete outputs of an earlier one. What must hold after it: an output is the old
// or a new whole one; the journal loses at most its last line; exit code 0 means that all is written, any other comes
// with a message of ours; nothing crashes or hangs; and the same command continues without the faults.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <stdexcept>

#include "platform/process/process.h"
#include "platform/store/store.h"
#include "support/cli.h"

namespace {

using namespace tune;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kHang = 10;  // seconds beyond what a run without faults takes
const std::vector<std::string> kOutputs = {"out.csv", "out.yaml", "t4.json"};

/// What must hold does not.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Counts {
  int runs = 0, faults = 0, failed = 0;
  double slowest = 0;
};

/// A tuning that is repeated, and what it writes where nothing fails.
class Job {
 public:
  explicit Job(bool kernel) : kernel_(kernel) {
    fs::create_directories(sandbox.folder() / "tmp");
    sandbox.environment["TMPDIR"] = (sandbox.folder() / "tmp").string();
    if (kernel)
      sandbox.write_gemm("", "");
    else
      sandbox.write_script("{T: [3, 1, 2]}");
    const auto start = Clock::now();
    const cli::Result result = run({});
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    if (result.code != 0) throw Broken("a run without faults fails: " + result.err);
    for (const std::string& name : kOutputs) whole_[name] = read(name);
  }

  cli::Result run(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {kernel_ ? "gemm.yaml" : "bench.yaml",
                                      "--tune",
                                      "--output",
                                      "out",
                                      "--t4",
                                      "t4.json",
                                      "--kt-cache",
                                      "kt.json",
                                      "--finals-budget",
                                      "1s",
                                      "--jobs",
                                      "1"};
    if (kernel_) words.insert(words.end(), {"--filter", "BM=4"});
    words.insert(words.end(), more.begin(), more.end());
    platform::Command command;
    command.argv = {TUNE_BIN_DIR "/tune"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment = sandbox.environment;
    command.directory = sandbox.folder();
    platform::Processes processes(false);
    const auto id = processes.start(command);
    processes.close_stdin(id);
    processes.set_deadline(
        id, std::chrono::seconds(kHang) + std::chrono::duration_cast<platform::Processes::Clock::duration>(
                                              std::chrono::duration<double>(3 * seconds_ + (seconds_ == 0 ? 60 : 0))));
    cli::Result result;
    for (;;) {
      const auto event = processes.wait(std::nullopt);
      if (const auto* line = std::get_if<platform::Processes::Line>(&*event)) result.out += line->text + "\n";
      if (const auto* ended = std::get_if<platform::Processes::Ended>(&*event)) {
        result.err = ended->captured;
        result.code = ended->exit.timed_out     ? -1
                      : ended->exit.signal != 0 ? 128 + ended->exit.signal
                                                : ended->exit.code;
        return result;
      }
    }
  }

  std::string read(const std::string& name) const {
    return fs::exists(sandbox.folder() / name) ? sandbox.read(name) : "";
  }
  /// Whether a file is one that a run without faults writes, but for the times in it, and for what the
  /// finals say.
  bool is_whole(const std::string& name) const { return comparable(read(name)) == comparable(whole_.at(name)); }
  /// What is there instead of a file that is not whole.
  std::string instead_of(const std::string& name) const {
    return "\n--- whole:\n" + comparable(whole_.at(name)) + "--- instead:\n" + comparable(read(name));
  }
  std::size_t trials() const { return sandbox.trials("out.jsonl").size(); }
  bool kernel() const { return kernel_; }

  /// Files that no run needs any more.
  std::vector<std::string> left_over() const {
    std::vector<std::string> names = sandbox.files();
    std::erase_if(names, [](const std::string& name) {
      return name.find(".tune-tmp") == std::string::npos && name.find("/tmp.") == std::string::npos &&
             !name.starts_with("tmp/");
    });
    return names;
  }

  cli::Sandbox sandbox;

 private:
  // On a busy machine a spec may not reach the finals, whose times are in the last column of a table, and the finals
  // may decide nothing.
  static std::string comparable(const std::string& text) {
    static const std::regex in_finals(",#\n"), verdict("  verdict:\n(    [^\n]*\n)*|  interval_ms: [^\n]*\n");
    return std::regex_replace(std::regex_replace(cli::masked(text), verdict, ""), in_finals, ",\n");
  }

  bool kernel_;
  double seconds_ = 0;
  std::map<std::string, std::string> whole_;
};

/// One run with faults, and one without that continues it.
class Attempt {
 public:
  Attempt(Job& job, std::uint64_t seed) : job_(job), random_(seed) {
    static constexpr const char* kKinds[] = {"once", "once", "once", "some", "full", "readonly"};
    auto& environment = job.sandbox.environment;
    in_workers_ = random_() % 4 == 0;
    environment["FAULTS_SEED"] = std::to_string(seed);
    environment["FAULTS_KIND"] = kKinds[random_() % std::size(kKinds)];
    environment["FAULTS_PROGRAM"] = in_workers_ ? "tune*" : "tune";
    environment["FAULTS_ROOT"] = job.sandbox.folder().string();
    log_ = fs::path(job.sandbox.folder().string() + ".faults");
    environment["FAULTS_LOG"] = log_.string();
    fs::remove(log_);
    for (const char* name : {"out.jsonl", "state", "cache", "kt.json"})
      if (random_() % 2 == 0) fs::remove_all(job.sandbox.folder() / name);
    for (const std::string& name : kOutputs)
      if (random_() % 2 == 0) fs::remove(job.sandbox.folder() / name);
  }
  ~Attempt() {
    std::error_code ignored;
    fs::remove(log_, ignored);
  }

  void check(Counts& counts) {
    std::map<std::string, std::string> before;
    for (const std::string& name : kOutputs) before[name] = job_.read(name);
    const std::size_t known = job_.trials();
    const auto start = Clock::now();
    job_.sandbox.environment["LD_PRELOAD"] = TUNE_FAULTY_FILES;
    const cli::Result result = job_.run({});
    job_.sandbox.environment.erase("LD_PRELOAD");
    said_ = result.err;
    counts.slowest = std::max(counts.slowest, std::chrono::duration<double>(Clock::now() - start).count());
    const int made = faults();
    counts.faults += made;
    counts.failed += result.code != 0 ? 1 : 0;
    require(result.code >= 0, "it hangs");
    require(result.code < 128, "it is killed by a signal");
    require(result.code == 0 || made > 0, "it fails without a fault");
    for (const char* foreign : {"unexpected", "exception", "filesystem error", "Assertion"})
      require(said_.find(foreign) == std::string::npos, "it says what is not for a user");
    for (const std::string& name : kOutputs) {
      require(job_.read(name) == before[name] || job_.is_whole(name) || in_workers_,
              name + " is torn" + job_.instead_of(name));
      require(result.code != 0 || job_.is_whole(name) || in_workers_, name + " is not there, and the exit code is 0");
    }
    require(result.code <= 1 || said_.find("tune: error: ") != std::string::npos, "it fails without a message");
    require(job_.trials() >= known, "the journal lost whole lines");
    resume();
  }

 private:
  void resume() {
    const cli::Result result =
        job_.run(in_workers_ ? std::vector<std::string>{"--retry-failed"} : std::vector<std::string>{});
    said_ += "\n--- continued:\n" + result.err;
    require(result.code == 0, "it cannot be continued: exit code " + std::to_string(result.code));
    for (const std::string& name : kOutputs)
      require(job_.is_whole(name), name + " is not whole after it was continued" + job_.instead_of(name));
    require(job_.read("kt.json").ends_with("}\n}\n"), "kt.json is not whole after it was continued");
    const std::vector<std::string> left = job_.left_over();
    require(left.empty(), "it leaves " + (left.empty() ? "" : left.front()));
  }

  int faults() const {
    std::ifstream file(log_);
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  void require(bool holds, const std::string& what) const {
    if (holds) return;
    const std::string faults = fs::exists(log_) ? platform::read_file(log_) : "";
    throw Broken(what + "\n--- faults:\n" + faults + "--- stderr:\n" + said_);
  }

  Job& job_;
  std::mt19937_64 random_;
  bool in_workers_ = false;
  fs::path log_;
  std::string said_;
};

}  // namespace

/// campaign_file_faults [--runs N | --seconds S] [--seed FIRST]
int main(int argc, char** argv) {
  long runs = 1'000'000'000, seconds = 1'000'000'000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--runs") runs = std::atol(argv[i + 1]);
    if (option == "--seconds") seconds = std::atol(argv[i + 1]);
    if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  Counts counts;
  try {
    Job program(false), kernel(true);
    for (; counts.runs < runs && Clock::now() < end; ++seed, ++counts.runs)
      Attempt(seed % 8 == 0 ? kernel : program, seed).check(counts);
  } catch (const std::exception& error) {
    std::printf("file_faults: broken at seed %ju after %d runs (repeat: --runs 1 --seed %ju): %s\n",
                static_cast<std::uintmax_t>(seed), counts.runs, static_cast<std::uintmax_t>(seed), error.what());
    return 1;
  }
  std::printf(
      "file_faults: %d runs, %d faults, %d runs ended with an error, the slowest took %.1f s, seeds up to %ju\n",
      counts.runs, counts.faults, counts.failed, counts.slowest, static_cast<std::uintmax_t>(seed - 1));
  return 0;
}

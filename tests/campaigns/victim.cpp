#include "victim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>

namespace tune::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kMostToEnd = std::chrono::seconds(10);
constexpr auto kPauseOfMachine = std::chrono::seconds(1);

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

template <typename Condition>
void await(Condition holds, const std::string& what) {
  const auto end = Clock::now() + kMostToEnd;
  while (!holds()) {
    require(Clock::now() < end, what + " after 10 s");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void require_winner(const Subject& subject, const Result& result) {
  const std::string line = "top_spec_idx: " + (subject.winner < 0 ? "" : std::to_string(subject.winner) + "\n");
  require(result.out.find(line) != std::string::npos, "another winner than " + line + result.out + result.err);
}

/// Where another user of the machine has used up its processes, that is waited for.
bool lacks_processes(const Result& result) {
  const bool lacks = result.err.find(std::strerror(EAGAIN)) != std::string::npos;
  if (lacks) std::this_thread::sleep_for(kPauseOfMachine);
  return lacks;
}

}  // namespace

void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

Machine::Machine(const Limits& limits)
    : subjects{Subject{"program.yaml", 18, 6}, Subject{"gemm.yaml", 16, -1}}, limits_(limits) {
  fs::permissions(sandbox_.write("program.sh", kScript), fs::perms::owner_all);
  sandbox_.write("program.yaml", kProgram);
  sandbox_.write("gemm.cpp", kKernel);
  sandbox_.write("gemm.yaml", kGemm);
  fs::create_directory(sandbox_.folder() / "tmp");
}

void Machine::equip(Sandbox& sandbox) const {
  sandbox.environment["TMPDIR"] = (sandbox_.folder() / "tmp").string();
  for (const char* name : {"TUNE_LOCKS", "XDG_CACHE_HOME"}) sandbox.environment[name] = sandbox_.environment.at(name);
}

void Machine::remove_store() const { fs::remove_all(sandbox_.environment.at("XDG_CACHE_HOME")); }

void Machine::require_tidy() const {
  require(fs::is_empty(sandbox_.folder() / "tmp"), "something is left in TMPDIR");
  require(unfinished_builds() == 0, "folders of unfinished builds are left in the store");
}

std::ptrdiff_t Machine::unfinished_builds() const {
  std::error_code ignored;
  return std::count_if(fs::directory_iterator(sandbox_.folder() / "cache/tune/store", ignored), {},
                       [](const auto& entry) { return entry.path().filename().string().starts_with("tmp."); });
}

bool Machine::more() const {
  const bool in_time = limits_.seconds == 0 || Clock::now() - began_ < std::chrono::seconds(limits_.seconds);
  return in_time && (limits_.kills == 0 || kills_ < limits_.kills);
}

double Machine::seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

Victim::Victim(Machine& machine, std::uint64_t seed) : machine_(&machine), random_(seed) { machine.equip(sandbox_); }

std::vector<std::string> Victim::command(const Subject& subject, const std::string& output) const {
  return {machine_->file(subject), "--tune", "--quiet", "--output", output};
}

void Victim::learn(Subject& subject) const {
  const auto begin = Clock::now();
  const Result result = sandbox_.tune(command(subject, std::string("learn-") + subject.yaml));
  require(result.code == 0, "a run that nobody disturbs fails: " + result.err);
  subject.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  require_winner(subject, result);
}

void Victim::run() {
  const auto& subjects = machine_->subjects;
  while (machine_->more()) tune_with_kills(subjects[static_cast<std::size_t>(counts_.journals) % subjects.size()]);
}

/// One journal, and a store without artifacts: kills until the run gets through before the next one, then an
/// undisturbed run.
void Victim::tune_with_kills(const Subject& subject) {
  machine_->remove_store();
  const std::string output = "out" + std::to_string(counts_.journals++);
  const fs::path journal = sandbox_.folder() / (output + ".jsonl");
  constexpr int kMostKills = 12;
  bool through = false;
  for (int kill = 0; kill < kMostKills && !through && machine_->more(); ++kill) {
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
bool Victim::start_and_kill(const Subject& subject, const std::string& output) {
  Background run(sandbox_, command(subject, output));
  const auto most = static_cast<std::uint64_t>(subject.seconds * 1e6);
  std::this_thread::sleep_for(std::chrono::microseconds(random_.below(most)));
  if (random_.below(4) == 0) kill_a_worker();
  if (run.ended()) return true;
  const int signal = any_of({SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP});
  run.signal(signal);
  if (signal == SIGSTOP) run.signal(SIGKILL);
  ++counts_.kills;
  machine_->note_kill();
  const auto begin = Clock::now();
  await([&] { return run.ended(); }, "a run that was sent signal " + std::to_string(signal) + " goes on");
  await([&] { return sandbox_.processes().empty(); }, "processes of a run that was killed go on");
  counts_.slowest = std::max(counts_.slowest, std::chrono::duration<double>(Clock::now() - begin));
  run.wait();
  return false;
}

/// One of the processes that the run has started, directly or not.
void Victim::kill_a_worker() {
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
  ++counts_.worker_kills;
  std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(50)));
}

Result Victim::run_undisturbed(const Subject& subject, const std::vector<std::string>& words) const {
  Background run(sandbox_, words);
  const auto most = kMostToEnd + std::chrono::duration<double>(3 * subject.seconds);
  const auto begin = Clock::now();
  while (!run.ended()) {
    require(Clock::now() - begin < most, "a run that nobody disturbs hangs");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return run.wait();
}

/// After a run that nobody disturbs. What failed did so because something was killed, and may be tried again.
void Victim::require_complete(const Subject& subject, const std::string& output) {
  const std::set<fs::path> scratch = abandoned_scratch();
  std::vector<std::string> words = command(subject, output);
  words.emplace_back("--retry-failed");
  Result result = run_undisturbed(subject, words);
  for (int again = 0; again < 30 && lacks_processes(result); ++again) result = run_undisturbed(subject, words);
  require(result.code == 0, fmt::format("the last run ends with {}: {}", result.code, result.err));
  require_winner(subject, result);
  require_trials(subject, output);
  require_tidy_after(scratch, "next-" + output);
  require_nothing_to_do(subject, output);
}

/// Each spec was measured once, and failed only before that.
void Victim::require_trials(const Subject& subject, const std::string& output) {
  std::map<std::string, int> measured;
  for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl")) {
    ++counts_.trials;
    const bool failed = record.trial.failure() != nullptr;
    counts_.failed += failed ? 1 : 0;
    require(!failed || measured[record.id] == 0, "a spec that was measured was tried again");
    measured[record.id] += failed ? 0 : 1;
  }
  require(measured.size() == subject.specs, fmt::format("{} specs of {}", measured.size(), subject.specs));
  for (const auto& [id, times] : measured) require(times == 1, fmt::format("spec {} was measured {} times", id, times));
}

/// A run that all is known of tidies nothing up; the next one that measures does.
void Victim::require_tidy_after(const std::set<fs::path>& scratch, const std::string& output) const {
  const std::string gemm = machine_->file(machine_->subjects.back());
  const Result next = sandbox_.tune({gemm, "--spec", "0", "--quiet", "--output", output});
  require(next.code == 0 || lacks_processes(next), "the next run fails: " + next.err);
  if (next.code != 0) return;
  for (const fs::path& folder : scratch) require(!fs::exists(folder), folder.string() + " is left");
  machine_->require_tidy();
}

void Victim::require_nothing_to_do(const Subject& subject, const std::string& output) const {
  const std::string before = sandbox_.read(output + ".jsonl");
  const Result again = run_undisturbed(subject, command(subject, output));
  require_winner(subject, again);
  std::istringstream added(sandbox_.read(output + ".jsonl").substr(before.size()));
  for (std::string line; std::getline(added, line);)
    require(line.find("\"record\":\"run\"") != std::string::npos ||
                line.find("\"record\":\"results\"") != std::string::npos,
            "a finished tuning does more: " + line);
}

}  // namespace tune::cli

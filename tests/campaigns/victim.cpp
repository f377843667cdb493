#include "victim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

namespace tune::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPauseOfMachine = std::chrono::seconds(1);
constexpr double kMostOfSecond = 0.1;  ///< seconds that a second run goes on before the first is killed

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

void require_winner(const Subject& subject, const Result& result) {
  const std::string line = "top_spec_idx: " + (subject.winner < 0 ? "" : std::to_string(subject.winner) + "\n");
  require(result.out.find(line) != std::string::npos, "another winner than " + line + result.out + result.err);
}

/// How many runs the journal knows.
std::ptrdiff_t runs_in(const fs::path& journal) {
  std::istringstream lines(whole_lines(journal));
  std::ptrdiff_t runs = 0;
  for (std::string line; std::getline(lines, line);)
    runs += line.find(R"("record":"run")") != std::string::npos ? 1 : 0;
  return runs;
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

Counts& Counts::operator+=(const Counts& other) {
  kills += other.kills;
  worker_kills += other.worker_kills;
  journals += other.journals;
  trials += other.trials;
  failed += other.failed;
  refused += other.refused;
  slowest = std::max(slowest, other.slowest);
  return *this;
}

Machine::Machine(const Limits& limits, std::int64_t victims)
    : subjects{Subject{"program.yaml", 18, 6}, Subject{"gemm.yaml", 16, -1}}, limits_(limits), victims_(victims) {
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
  return in_time && !stopped_ && (limits_.kills == 0 || kills_ < limits_.kills);
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

/// One journal, and a store without artifacts unless others use it too: kills until the run gets through before the
/// next one, then an undisturbed run.
void Victim::tune_with_kills(const Subject& subject) {
  if (!machine_->is_shared()) machine_->remove_store();
  const std::string output = "out" + std::to_string(counts_.journals++);
  const fs::path journal = journal_of(output);
  const Counts begin = counts_;
  constexpr int kMostKills = 12;
  bool through = machine_->is_shared() && random_.below(3) == 0;  // this one is left alone
  for (int kill = 0; kill < kMostKills && !through && machine_->more(); ++kill) {
    const std::string before = whole_lines(journal);
    try {
      through = start_and_kill(subject, output);
    } catch (const std::system_error&) {
      std::this_thread::sleep_for(kPauseOfMachine);
    }
    require(slurp(journal).starts_with(before), "the journal lost lines");
  }
  // A spec that was running when two runs were killed is not tried again.
  const bool may_have_failed = counts_.worker_kills > begin.worker_kills || counts_.kills >= begin.kills + 2;
  require_complete(subject, output, may_have_failed);
  if (!machine_->is_shared()) require_tidy_after_next();
}

void Victim::pause(double most_seconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(random_.below(static_cast<std::uint64_t>(most_seconds * 1e6))));
}

template <typename Condition>
void Victim::await(Condition holds, const std::string& what) const {
  const auto end = Clock::now() + machine_->patience();
  while (!holds()) {
    require(Clock::now() < end, fmt::format("{} after {} s", what, machine_->patience().count()));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Whether it ended before it was killed.
bool Victim::start_and_kill(const Subject& subject, const std::string& output) {
  const std::ptrdiff_t runs = runs_in(journal_of(output));
  Background run(sandbox_, command(subject, output));
  pause(subject.seconds);
  if (random_.below(4) == 0) kill_a_worker();
  std::optional<Background> second;
  // A run that the journal knows has it for itself.
  if (machine_->is_shared() && random_.below(3) == 0 && runs_in(journal_of(output)) > runs) {
    second.emplace(sandbox_, command(subject, output));
    pause(kMostOfSecond);
  }
  const bool first_goes_on = second && second->ended() && !run.ended();
  const bool through = run.ended();
  const auto begin = Clock::now();
  if (!through) kill(run);
  if (second) require_refused(subject, *second, first_goes_on, output, runs + 1);
  if (through) return true;
  await([&] { return sandbox_.processes().empty(); }, "processes of a run that was killed go on");
  if (!second) counts_.slowest = std::max(counts_.slowest, std::chrono::duration<double>(Clock::now() - begin));
  return false;
}

void Victim::kill(Background& run) {
  const int signal = any_of({SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP});
  run.signal(signal);
  if (signal == SIGSTOP) run.signal(SIGKILL);
  ++counts_.kills;
  machine_->note_kill();
  await([&] { return run.ended(); }, "a run that was sent signal " + std::to_string(signal) + " goes on");
}

/// A second run of the same command says that the journal is in use, and changes nothing. Only if the first has ended,
/// it may go on instead. `runs`: that the journal knew when the second began.
void Victim::require_refused(const Subject& subject, Background& second, bool first_goes_on, const std::string& output,
                             std::ptrdiff_t runs) {
  const Result result = await_end(subject, second);
  const std::string message = "the journal " + output + ".jsonl is in use by process ";
  const bool refused = result.code == 4 && result.out.empty() && result.err.find(message) != std::string::npos;
  const bool goes_on = !first_goes_on && (result.code == 0 || lacks_processes(result));
  require(refused || goes_on, fmt::format("a second run ends with {}: {}", result.code, result.err));
  if (!refused) return;
  ++counts_.refused;
  require(runs_in(journal_of(output)) == runs, "a run that was refused is in the journal");
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

Result Victim::await_end(const Subject& subject, Background& run) const {
  const double expected = 3 * static_cast<double>(machine_->victims()) * subject.seconds;
  const auto most = machine_->patience() + std::chrono::duration<double>(expected);
  const auto begin = Clock::now();
  while (!run.ended()) {
    require(Clock::now() - begin < most, "a run that nobody disturbs hangs");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return run.wait();
}

Result Victim::run_undisturbed(const Subject& subject, const std::vector<std::string>& words) const {
  Background run(sandbox_, words);
  return await_end(subject, run);
}

/// After a run that nobody disturbs. What failed did so because something was killed, and may be tried again.
void Victim::require_complete(const Subject& subject, const std::string& output, bool may_have_failed) {
  std::vector<std::string> words = command(subject, output);
  words.emplace_back("--retry-failed");
  Result result = run_undisturbed(subject, words);
  for (int again = 0; again < 30 && lacks_processes(result); ++again) result = run_undisturbed(subject, words);
  require(result.code == 0, fmt::format("the last run ends with {}: {}", result.code, result.err));
  require_winner(subject, result);
  require_trials(subject, output, may_have_failed);
  require_nothing_to_do(subject, output);
}

/// Each spec was measured once, and failed only before that, and only if something was killed.
void Victim::require_trials(const Subject& subject, const std::string& output, bool may_have_failed) {
  std::map<std::string, int> measured;
  for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl")) {
    ++counts_.trials;
    const bool failed = record.trial.failure() != nullptr;
    counts_.failed += failed ? 1 : 0;
    require(!failed || may_have_failed, "a spec fails although nothing was killed: " + outcome_text(record.trial));
    require(!failed || measured[record.id] == 0, "a spec that was measured was tried again");
    measured[record.id] += failed ? 0 : 1;
  }
  require(measured.size() == subject.specs, fmt::format("{} specs of {}", measured.size(), subject.specs));
  for (const auto& [id, times] : measured) require(times == 1, fmt::format("spec {} was measured {} times", id, times));
}

// A run that all is known of tidies nothing up.
void Victim::require_tidy_after_next() {
  const std::set<fs::path> scratch = abandoned_scratch();
  const Subject& gemm = machine_->subjects.back();
  const std::string output = "next" + std::to_string(counts_.journals);
  const Result next = run_undisturbed(gemm, {machine_->file(gemm), "--spec", "0", "--quiet", "--output", output});
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

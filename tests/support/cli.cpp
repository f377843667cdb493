#include "support/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "platform/process/process.h"
#include "platform/store/store.h"

namespace tune::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKernel = R"(
  for (int i = 0; i < m; i += BM)
    for (int j = 0; j < n; ++j)
      for (int r = i; r < i + BM && r < m; ++r) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[r * k + p] * B[p * n + j];
        C[r * n + j] = sum;
      }
)";

constexpr const char* kYaml = R"(name: gemm
file: gemm.cpp
kernel: gemm
problem:
  gemm: {m: 64, n: 64, k: 64}
params:
  BM: [1, 2, 4, 8]
launch: {args: [A, B, C, m, n, k]}
measure: {max_seconds: 0.02}
)";

constexpr const char* kScript = R"(#!/bin/sh
echo "$*" >> "${0%/*}/runs.txt"
for word in "$@"; do
  case $word in
    --T=*) time=${word#--T=} ;;
    --SAYS=*) says=${word#--SAYS=} ;;
  esac
done
result="{\"time\": ${time:-1}e-3, \"ok\": true}"
case $says in
  plain) echo '{"time": 1e-3}' ;;
  wrong) echo '{"time": 1e-3, "ok": false}' ;;
  two) echo "$result"; echo "$result" ;;
  nothing) echo done ;;
  garbage) echo '{"time": 1e-3,' ;;
  zero) echo '{"time": 0, "ok": true}' ;;
  dies) echo 'no such tile' >&2; exit 3 ;;
  crashes) kill -s SEGV $$ ;;
  *) echo "$result" ;;
esac
)";

}  // namespace

Sandbox::Sandbox() {
  ::umask(022);
  std::string name = (fs::temp_directory_path() / "tune-cli.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  folder_ = fs::canonical(name);
  environment = {{"HOME", folder_.string()},
                 {"TUNE_LOCKS", folder_.string()},  // tests time beside each other
                 {"XDG_STATE_HOME", (folder_ / "state").string()},
                 {"XDG_CACHE_HOME", (folder_ / "cache").string()}};
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Sandbox::write(const std::string& name, const std::string& text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name) << text;
  return folder_ / name;
}

std::string Sandbox::read(const std::string& name) const { return platform::read_file(folder_ / name); }

void Sandbox::write_gemm(const std::string& extra, const std::string& kernel) const {
  write(
      "gemm.cpp",
      "#include <cstdlib>\nextern \"C\" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {\n" +
          (kernel.empty() ? kKernel : kernel) + "}\n");
  write("gemm.yaml", kYaml + extra);
}

void Sandbox::write_script(const std::string& params, const std::string& extra) const {
  fs::permissions(write("bench.sh", kScript), fs::perms::owner_all);
  write("bench.yaml", "name: bench\nfile: bench.sh\nparams: " + params + "\n" + extra);
}

int Sandbox::script_runs() const {
  std::ifstream file(folder_ / "runs.txt");
  return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

std::vector<std::string> Sandbox::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    names.push_back(entry.path().lexically_relative(folder_).string());  // it may be gone by now
  std::sort(names.begin(), names.end());
  return names;
}

int Sandbox::artifacts() const {
  const fs::path store = folder_ / "cache/tune/store";
  if (!fs::exists(store)) return 0;
  return static_cast<int>(std::count_if(fs::directory_iterator(store), {}, [](const fs::directory_entry& entry) {
    return !entry.path().filename().string().starts_with("tmp.");
  }));
}

Result Sandbox::tune(const std::vector<std::string>& arguments) const { return tune_from(TUNE_BIN_DIR, arguments); }

Result Sandbox::tune_from(const fs::path& bin, const std::vector<std::string>& arguments) const {
  platform::Command command;
  command.argv = {(bin / "tune").string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  command.directory = folder_;
  command.capture_limit = 16 << 20;
  const platform::Finished finished = platform::run(command);
  return {finished.exit.signal != 0 ? 128 + finished.exit.signal : finished.exit.code, finished.output,
          finished.captured};
}

fs::path Sandbox::copy_binaries() const {
  const fs::path bin = folder_ / "bin";
  fs::create_directories(bin);
  for (const char* name : {"tune", "tune-worker-cpu", "tune-worker-program", "tune-device-clocks"})
    fs::copy_file(fs::path(TUNE_BIN_DIR) / name, bin / name, fs::copy_options::overwrite_existing);
  return bin;
}

fs::path Sandbox::copy_binaries_with_fake_worker() const {
  const fs::path bin = copy_binaries();
  fs::copy_file(TUNE_FAKE_WORKER, bin / "tune-worker-cpu", fs::copy_options::overwrite_existing);
  return bin;
}

std::vector<wire::TrialRecord> Sandbox::trials(const std::string& journal) const {
  std::vector<wire::TrialRecord> trials;
  std::ifstream file(folder_ / journal);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const wire::Record record = wire::decode_record(line);
    if (const auto* trial = std::get_if<wire::TrialRecord>(&record)) trials.push_back(*trial);
  }
  return trials;
}

std::vector<std::string> Sandbox::processes() const {
  const auto slurp = [](const fs::path& path) {
    std::ostringstream text;  // which, unlike an iterator, throws nothing where the process ends meanwhile
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  };
  std::vector<std::string> commands;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    if (slurp(entry.path() / "environ").find(folder_.string()) == std::string::npos) continue;
    std::string command = slurp(entry.path() / "cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string without_results(const std::string& journal) {
  std::string kept;
  std::istringstream lines(journal);
  for (std::string line; std::getline(lines, line);)
    if (line.find("\"record\":\"results\"") == std::string::npos) kept += line + '\n';
  return kept;
}

std::string masked(const std::string& text) {
  static const std::regex number(R"([-+]?\b[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?\b)");
  return std::regex_replace(text, number, "#");
}

std::string outcome_text(const Trial& trial) {
  if (trial.measurement() != nullptr) return "measured";
  const Failure* failure = trial.failure();
  if (failure == nullptr) return "pruned";
  return std::string(to_text(failure->stage)) + ", " + std::string(to_text(failure->cause)) + ": " +
         failure->message.substr(0, failure->message.find('\n'));
}

std::set<fs::path> abandoned_scratch() {
  std::set<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev/shm", ignored)) {
    if (!entry.path().filename().string().starts_with("tune-scratch-")) continue;
    const int folder = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    struct stat status {};
    const bool ours =
        ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 07777) == 01700;
    if (ours && ::flock(folder, LOCK_EX | LOCK_NB) == 0) folders.insert(entry.path());
    ::close(folder);
  }
  return folders;
}

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

DefaultSignals::DefaultSignals() {
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_init(&attributes_);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
}

DefaultSignals::~DefaultSignals() { ::posix_spawnattr_destroy(&attributes_); }

Background::Background(const Sandbox& sandbox, const std::vector<std::string>& arguments, const fs::path& bin) {
  static std::atomic<int> count = 0;  // tests start some from several threads
  out_ = sandbox.folder() / ("background" + std::to_string(++count) + ".out");
  err_ = fs::path(out_).replace_extension(".err");
  std::vector<std::string> words = {(bin / "tune").string()}, variables;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const auto& [name, value] : sandbox.environment) variables.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!sandbox.environment.contains(std::string(*variable).substr(0, std::string(*variable).find('='))))
      variables.emplace_back(*variable);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::posix_spawn_file_actions_addchdir_np(&actions, sandbox.folder().c_str());
  const int error = ::posix_spawn(&process_, words.front().c_str(), &actions, DefaultSignals().get(),
                                  pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + words.front());
}

Background::~Background() {
  if (reaped_) return;
  signal(SIGKILL);
  wait();
}

void Background::signal(int number) const { ::kill(process_, number); }

bool Background::catches(int number) const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string word; status >> word;)
    if (std::uint64_t caught = 0; word == "SigCgt:" && status >> std::hex >> caught)
      return (caught >> (number - 1) & 1) != 0;
  return false;
}

bool Background::ended() {
  if (!reaped_) reaped_ = ::waitpid(process_, &status_, WNOHANG) == process_;
  return reaped_;
}

std::string Background::said() const { return platform::read_file(err_); }

Result Background::wait() {
  if (!reaped_) ::waitpid(process_, &status_, 0);
  reaped_ = true;
  return {WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_), platform::read_file(out_),
          platform::read_file(err_)};
}

}  // namespace tune::cli

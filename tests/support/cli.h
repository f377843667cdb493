#pragma once
#include <spawn.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "wire/records.h"

namespace tune::cli {

/// What one run of `tune` said and how it ended; `code` is 128 + signal if it was killed by one.
struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

/// A folder of its own for one test, with the user's folders (journals, build store) inside it, and the real binary.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  /// Writes gemm.cpp, a right and simple kernel with the macro BM, and gemm.yaml: m n k 64, BM [1, 2, 4, 8].
  /// `kernel` and `extra` replace the kernel's body and are appended to the YAML.
  void write_gemm(const std::string& extra = "", const std::string& kernel = "") const;

  /// Writes bench.sh, a program without a build, and bench.yaml with these params. The program claims to be right and
  /// to take T milliseconds, or does what SAYS says: plain (no `ok`), wrong, two, nothing, garbage, zero, dies,
  /// crashes.
  void write_script(const std::string& params, const std::string& extra = "") const;
  /// How often that program was run.
  int script_runs() const;
  /// Everything in the folder, sorted.
  std::vector<std::string> files() const;
  /// Artifacts in the build store.
  int artifacts() const;

  /// Runs `tune` with these arguments in the folder.
  Result tune(const std::vector<std::string>& arguments) const;
  /// The same with other binaries than those of the build: `bin` is a folder made by copy_binaries.
  Result tune_from(const std::filesystem::path& bin, const std::vector<std::string>& arguments) const;
  /// Copies tune and its workers into folder()/bin, to be tampered with.
  std::filesystem::path copy_binaries() const;
  /// The same with fake_worker in the place of tune-worker-cpu.
  std::filesystem::path copy_binaries_with_fake_worker() const;

  /// The trials in the whole lines of a journal, oldest first; none if there is no such file yet.
  std::vector<wire::TrialRecord> trials(const std::string& journal) const;
  /// Command lines of all processes started in this sandbox, directly or not, that still run.
  std::vector<std::string> processes() const;
  /// Environment of the runs; HOME, XDG_STATE_HOME, XDG_CACHE_HOME and TUNE_LOCKS are set already.
  std::map<std::string, std::string> environment;

 private:
  std::filesystem::path folder_;
};

/// A journal without what its runs printed at their ends, as one that a killed run or an older version of tune left.
std::string without_results(const std::string& journal);

/// The text with `#` for every number, its sign and its exponent included.
std::string masked(const std::string& text);

/// `measured`, `pruned`, or `stage, cause: first line of the message`.
std::string outcome_text(const Trial& trial);

/// Waits until the condition holds; false if it does not within half a minute.
bool eventually(const std::function<bool()>& condition);

/// This user's folders for large files in /dev/shm that no process holds any more.
std::set<std::filesystem::path> abandoned_scratch();

/// Lets a process that posix_spawn starts have all signals as they are by default: a shell starts what runs in its
/// background with SIGINT ignored, and tests may run there.
class DefaultSignals {
 public:
  DefaultSignals();
  ~DefaultSignals();
  DefaultSignals(const DefaultSignals&) = delete;
  DefaultSignals& operator=(const DefaultSignals&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// A run of `tune` that goes on while the test does something else. It is killed with the object.
class Background {
 public:
  Background(const Sandbox& sandbox, const std::vector<std::string>& arguments,
             const std::filesystem::path& bin = TUNE_BIN_DIR);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// To `tune` alone, not to its workers.
  void signal(int number) const;
  /// Whether it has a handler for this signal by now.
  bool catches(int number) const;
  /// Whether it has ended.
  bool ended();
  /// What it has said on stderr by now.
  std::string said() const;
  /// Waits for its end.
  Result wait();

 private:
  std::filesystem::path out_, err_;
  pid_t process_ = 0;
  bool reaped_ = false;
  int status_ = 0;
};

}  // namespace tune::cli

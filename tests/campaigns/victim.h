#pragma once
// Tunings whose runs are killed, and what must hold whatever happened: no trial is lost or made twice, nothing keeps
// running, nothing hangs, nothing is left, and the winner is the one of a run that nobody disturbed.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/values/random.h"
#include "support/cli.h"

namespace tune::cli {

/// What must hold does not.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool holds, const std::string& what);

/// A tuning file and what is known of its results.
struct Subject {
  const char* yaml;
  std::size_t specs;
  std::int64_t winner;  ///< mesh_idx; -1: it follows from times that are real
  double seconds = 0;   ///< that an undisturbed run takes
};

/// When to end; 0: no limit.
struct Limits {
  std::int64_t kills = 0;
  std::int64_t seconds = 0;
};

/// What all runs have in common: the tuning files, TMPDIR, the build store, and the time. Several threads may use it
/// once the subjects are known.
class Machine {
 public:
  /// `victims`: how many tune side by side.
  Machine(const Limits& limits, std::int64_t victims);

  /// Lets the runs of a sandbox use the common folders.
  void equip(Sandbox& sandbox) const;
  /// The path of a tuning file.
  std::string file(const Subject& subject) const { return (sandbox_.folder() / subject.yaml).string(); }
  void remove_store() const;
  /// That nothing is left in TMPDIR, nor of unfinished builds in the store.
  void require_tidy() const;
  bool is_shared() const { return victims_ > 1; }
  std::int64_t victims() const { return victims_; }
  /// How much longer than expected anything may take: where many run, the system itself lets each of them wait.
  std::chrono::seconds patience() const { return std::chrono::seconds(is_shared() ? 60 : 10); }
  /// Whether anything new may begin.
  bool more() const;
  /// Lets nothing new begin.
  void stop() { stopped_ = true; }
  double seconds() const;
  void note_kill() { ++kills_; }

  std::array<Subject, 2> subjects;

 private:
  using Clock = std::chrono::steady_clock;

  std::ptrdiff_t unfinished_builds() const;

  Limits limits_;
  std::int64_t victims_;
  Sandbox sandbox_;
  Clock::time_point began_ = Clock::now();
  std::atomic<std::int64_t> kills_ = 0;
  std::atomic<bool> stopped_ = false;
};

struct Counts {
  std::int64_t kills = 0, worker_kills = 0, journals = 0, trials = 0, failed = 0;
  std::int64_t refused = 0;                  ///< runs, because another had the journal
  std::chrono::duration<double> slowest{0};  ///< end after a kill

  Counts& operator+=(const Counts& other);
};

/// Tunes again and again, each time into a new journal, while its runs are killed. On a shared machine it leaves some
/// tunings alone, whose specs must not notice what happens to the neighbours.
class Victim {
 public:
  Victim(Machine& machine, std::uint64_t seed);

  /// How long an undisturbed run takes, and that it names the winner.
  void learn(Subject& subject) const;
  /// One tuning after the other, as long as there may be more.
  void run();
  /// That the next run that measures removes what is left, of others' runs too. Nobody else may run.
  void require_tidy_after_next();
  const Counts& counts() const { return counts_; }

 private:
  void tune_with_kills(const Subject& subject);
  bool start_and_kill(const Subject& subject, const std::string& output);
  void kill(Background& run);
  void require_refused(const Subject& subject, Background& second, bool first_goes_on, const std::string& output,
                       std::ptrdiff_t runs);
  void kill_a_worker();
  template <typename Condition>
  void await(Condition holds, const std::string& what) const;
  Result await_end(const Subject& subject, Background& run) const;
  Result run_undisturbed(const Subject& subject, const std::vector<std::string>& words) const;
  void require_complete(const Subject& subject, const std::string& output, bool may_have_failed);
  void require_trials(const Subject& subject, const std::string& output, bool may_have_failed);
  void require_nothing_to_do(const Subject& subject, const std::string& output) const;
  std::vector<std::string> command(const Subject& subject, const std::string& output) const;
  std::filesystem::path journal_of(const std::string& output) const { return sandbox_.folder() / (output + ".jsonl"); }
  void pause(double most_seconds);
  int any_of(std::initializer_list<int> values) { return values.begin()[random_.below(values.size())]; }

  Machine* machine_;
  Sandbox sandbox_;  ///< whose folder's name is in the environment of this one's processes, and of no others
  Random random_;
  Counts counts_;
};

}  // namespace tune::cli

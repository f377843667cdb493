#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "platform/files/descriptor.h"
#include "wire/records.h"

namespace tune::recording {

/// The memory of a tuning: an append-only file of JSON lines, locked while a run uses it. What was tried is found by
/// identity, so records of other spaces, machines or sources do no harm. Each record is one write; the disk has it
/// after a second at the latest.
///
/// Of an identity it tells what was recorded last (Recorded), and how many runs crashed since (crashes_during()). Of
/// the runs it tells why they distrust shared processes, and whether another version of tune was the last (Foreign).
class Journal {
 public:
  /// Opens or creates the file, locks it where the file system can, cuts a torn last line and reads the records. Throws
  /// Error(environment) if it cannot be opened or another run holds it, Error(bad_input) if it is a file of another
  /// kind.
  explicit Journal(std::filesystem::path path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The last run that wrote to a journal, without opening it for writing; nullopt if there is none.
  static std::optional<wire::RunRecord> last_run_of(const std::filesystem::path& path);
  /// The trials in a journal by identity, likewise.
  static std::unordered_map<std::string, Trial> trials_of(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// What was recorded last of an identity.
  template <class Result>
  struct Recorded {
    Result result;
    std::int64_t place;  ///< larger is later
    std::string date;    ///< when the run began that recorded it: see RunRecord. Empty: it did not say
    bool repeats;        ///< it has a failure that is alike to one of the record before
  };
  /// Null: there is none.
  const Recorded<Trial>* find(const std::string& id) const;
  const Recorded<Finals>* find_finals(const std::string& id) const;
  /// Trials of versions of tune that speak another protocol, whose identities are others, so that none is found.
  struct Foreign {
    int protocol = 0;  ///< of the last of them
    std::int64_t trials = 0;
  };
  /// Set if such a version was the last that wrote to it.
  std::optional<Foreign> foreign() const;
  /// Lines that were no records; they stay in the file.
  const wire::DamagedLines& damaged() const { return damaged_; }
  /// How many runs crashed or were killed while this ran (what a StartedRecord names), since its outcome was recorded
  /// last. Those that a user is known to have interrupted have not crashed.
  int crashes_during(const std::string& id) const;
  /// Why runs that continue this journal, of the same kernel, problem and device as the last one, share no processes;
  /// empty: they may.
  std::string distrust() const;
  /// Whether the file is no longer where it was, or holds less than was written: it was removed, replaced or cut.
  bool is_gone() const;
  /// Whether another run is kept from it.
  bool locked() const { return locked_; }

  /// Forgets all records and cuts the file to nothing. Throws Error(environment).
  void clear();
  /// Forgets, and keeps in the file, all that does not count for a fresh run, whose RunRecord was the last: what was
  /// recorded before it. If the runs before it were fresh too, were given the same command, and did not complete, what
  /// they recorded counts.
  void forget_older();
  /// Of a fresh run, which has done all that it was to do: the next one begins anew. Of others, does nothing.
  void note_complete();
  /// Throw Error(environment) if the disk does not take it; what was written before stays whole.
  void append(const wire::Record& record);
  /// To be said before the run ends, where it knows why: what runs has no part in it. Never throws: what cannot be
  /// written then is an end like any other.
  void note_end();
  /// Flushes to disk what is older than a second; with `now` everything. Throws Error(environment).
  void flush(bool now);

 private:
  struct Distrust {
    std::string why;
    std::int64_t place = 0;
  };
  template <class Result>
  using Results = std::unordered_map<std::string, Recorded<Result>>;
  /// Fresh runs of one command, none of which has completed.
  struct Series {
    std::vector<std::string> arguments;
    std::int64_t begin;  ///< the place of the last record before them
  };

  void lock();
  void read();
  void cut_torn_line();
  [[noreturn]] void fail_to_write(const std::string& why) const;
  void accept(wire::Record record);
  template <class Result>
  void keep(Results<Result>& results, const std::string& id, Result result);
  bool foreign_run() const;
  void count_crashes();
  void forget_crashes(const std::string& id);
  void note_series(const wire::RunRecord& run);

  std::filesystem::path path_;
  platform::Descriptor file_;
  bool locked_ = false;
  std::optional<wire::RunRecord> last_run_;
  Results<Trial> trials_;
  std::int64_t last_place_ = 0;
  Results<Finals> finals_;
  std::optional<Series> series_;               ///< that the last run belongs to
  std::map<std::string, Distrust> distrusts_;  ///< by what the run was of
  std::int64_t foreign_trials_ = 0;
  std::map<int, std::string> running_;            ///< what was started last, by its device, and has no outcome
  std::unordered_map<std::string, int> crashes_;  ///< see crashes_during
  wire::DamagedLines damaged_;
  std::int64_t end_ = 0;  ///< bytes of whole lines
  bool torn_ = false;     ///< part of a record follows them, which must go before the next one
  std::optional<std::chrono::steady_clock::time_point> unflushed_since_;
};

}  // namespace tune::recording

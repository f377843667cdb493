#include "recording/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "platform/files/file.h"

namespace tune::recording {
namespace fs = std::filesystem;
namespace {

// A journal starts with the record of a run, whose keys are sorted.
bool may_start_a_journal(const std::string& text) {
  constexpr std::string_view kStart = "{\"command\":";
  return kStart.starts_with(std::string_view(text).substr(0, kStart.size()));
}

/// Runs of one subject measure the same specs on devices of one model.
std::string subject_of(const wire::RunRecord& run) {
  return run.name + '\n' + run.problem + '\n' + run.shape + '\n' + run.hello.device.name;
}

using Failures = std::vector<const Failure*>;

Failures failures_of(const Trial& trial) {
  if (const Failure* failure = trial.failure()) return {failure};
  return {};
}

Failures failures_of(const Finals& finals) {
  Failures failures;
  for (const Finalist& finalist : finals.finalists)
    if (finalist.failure) failures.push_back(&*finalist.failure);
  return failures;
}

bool any_repeats(const Failures& before, const Failures& now) {
  const auto same = [](const Failure* a, const Failure* b) { return alike(*a, *b); };
  return std::ranges::find_first_of(now, before, same) != now.end();
}

/// Hands the records of one kind to `take`, without opening the file for writing.
template <class Record, class Take>
void for_each(const fs::path& path, std::string_view name, Take take) {
  std::error_code ignored;
  const std::string kind = "\"record\":\"" + std::string(name) + '"';
  std::ifstream file(path, std::ios::binary);
  for (std::string line; fs::is_regular_file(path, ignored) && std::getline(file, line);) {
    if (line.find(kind) == std::string::npos) continue;
    try {
      take(std::get<Record>(wire::decode_record(line)));
    } catch (const std::exception&) {
      continue;  // a torn line, or a text that only looks like it
    }
  }
}

}  // namespace

Journal::Journal(fs::path path) : path_(std::move(path)) {
  const std::error_code no_folder = platform::make_folder_of(path_);
  file_ = platform::Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file_)
    throw Error(ExitCode::environment, "cannot open the journal " + path_.string() + ": " +
                                           (no_folder ? no_folder.message() : std::strerror(errno)) +
                                           "; choose another place with --output PREFIX");
  lock();
  read();
  cut_torn_line();
}

Journal::~Journal() { ::fdatasync(file_.get()); }

void Journal::lock() {
  locked_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  if (locked_ || errno != EWOULDBLOCK) return;
  std::string holder = "another run";
  try {
    read();
    if (last_run_)
      holder = "process " + std::to_string(last_run_->process) + " on " + line_with_escapes(last_run_->host);
  } catch (const Error&) {
    // Whoever holds it, it is in use.
  }
  throw Error(ExitCode::environment, "the journal " + path_.string() + " is in use by " + holder +
                                         "; wait for it, or choose another --output PREFIX");
}

void Journal::read() {
  struct stat status {};
  // A device such as /dev/full has nothing to read, or has it without end.
  if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  std::ifstream file(path_, std::ios::binary);
  // What cannot be read now would be cut off as a torn line.
  const auto must_be = [this](bool readable) {
    if (!readable)
      throw Error(ExitCode::environment, "cannot read the journal " + path_.string() + ": " + std::strerror(errno) +
                                             "; the same command continues from here once this is fixed");
  };
  must_be(file.is_open());
  std::string line;
  std::int64_t position = 0, number = 0;
  while (std::getline(file, line) && !file.eof()) {
    position += static_cast<std::int64_t>(line.size()) + 1;
    ++number;
    try {
      accept(wire::decode_record(line));
    } catch (const wire::Malformed& malformed) {
      if (end_ == 0)
        throw Error(ExitCode::bad_input,
                    path_.string() + ":1: this is no journal of tune; choose another --output PREFIX");
      damaged_.add(number, malformed.what());
    }
    end_ = position;
  }
  must_be(!file.bad());
  count_crashes();
  if (end_ == 0 && !line.empty() && !may_start_a_journal(line))
    throw Error(ExitCode::bad_input, path_.string() + ":1: this is no journal of tune; choose another --output PREFIX");
}

// What follows the last newline was being written when a run was killed. Appending to it would lose the next record
// too.
void Journal::cut_torn_line() {
  struct stat status {};
  const bool torn = ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > end_;
  if (torn && ::ftruncate(file_.get(), end_) != 0)
    throw Error(ExitCode::environment, "cannot mend the journal " + path_.string() + ": " + std::strerror(errno));
  torn_ = false;
}

std::optional<wire::RunRecord> Journal::last_run_of(const fs::path& path) {
  std::optional<wire::RunRecord> last;
  for_each<wire::RunRecord>(path, "run", [&](wire::RunRecord run) { last = std::move(run); });
  return last;
}

std::unordered_map<std::string, Trial> Journal::trials_of(const fs::path& path) {
  std::unordered_map<std::string, Trial> trials;
  for_each<wire::TrialRecord>(
      path, "trial", [&](wire::TrialRecord trial) { trials.insert_or_assign(trial.id, std::move(trial.trial)); });
  return trials;
}

void Journal::accept(wire::Record record) {
  if (auto* run = std::get_if<wire::RunRecord>(&record)) {
    count_crashes();
    note_series(*run);
    last_run_ = std::move(*run);
  }
  if (auto* started = std::get_if<wire::StartedRecord>(&record)) running_[started->device] = std::move(started->id);
  if (const auto* ended = std::get_if<wire::EndedRecord>(&record)) {
    running_.clear();
    if (ended->complete) series_.reset();
  }
  if (auto* distrust = std::get_if<wire::DistrustRecord>(&record); distrust && last_run_)
    distrusts_[subject_of(*last_run_)] = {std::move(distrust->why), ++last_place_};
  if (auto* finals = std::get_if<wire::FinalsRecord>(&record)) keep(finals_, finals->id, std::move(finals->finals));
  if (auto* trial = std::get_if<wire::TrialRecord>(&record)) {
    if (find(trial->id) == nullptr && foreign_run()) ++foreign_trials_;
    keep(trials_, trial->id, std::move(trial->trial));
  }
}

template <class Result>
void Journal::keep(Results<Result>& results, const std::string& id, Result result) {
  forget_crashes(id);
  const auto before = results.find(id);
  const bool repeats = before != results.end() && any_repeats(failures_of(before->second.result), failures_of(result));
  const std::string date = last_run_ ? last_run_->date : "";
  results.insert_or_assign(id, Recorded<Result>{std::move(result), ++last_place_, date, repeats});
}

void Journal::clear() {
  end_ = 0;
  cut_torn_line();
  last_run_.reset();
  trials_.clear();
  finals_.clear();
  running_.clear();
  crashes_.clear();
  damaged_.clear();
  foreign_trials_ = 0;
  series_.reset();
  distrusts_.clear();
}

// Whoever wants everything measured again gives what ended earlier runs another chance, too.
void Journal::note_series(const wire::RunRecord& run) {
  if (!run.fresh) {
    series_.reset();
    return;
  }
  const std::vector<std::string> arguments(run.command.begin() + (run.command.empty() ? 0 : 1), run.command.end());
  if (series_ && series_->arguments == arguments) return;
  series_ = Series{arguments, last_place_};
  crashes_.clear();
}

void Journal::forget_older() {
  const std::int64_t begin = series_ ? series_->begin : last_place_;
  std::erase_if(trials_, [&](const auto& entry) { return entry.second.place <= begin; });
  std::erase_if(finals_, [&](const auto& entry) { return entry.second.place <= begin; });
  std::erase_if(distrusts_, [&](const auto& entry) { return entry.second.place <= begin; });
}

std::string Journal::distrust() const {
  const auto found = last_run_ ? distrusts_.find(subject_of(*last_run_)) : distrusts_.end();
  return found == distrusts_.end() ? "" : found->second.why;
}

void Journal::note_complete() {
  if (series_) append(wire::EndedRecord{true});
}

// The run that wrote these has ended without a word: the journal was its alone.
void Journal::count_crashes() {
  for (const auto& [device, id] : std::exchange(running_, {})) ++crashes_[id];
}

// Finals also forget the crashes during their contenders.
void Journal::forget_crashes(const std::string& id) {
  const auto is_of = [&](const std::string& other) { return other == id || other.starts_with(id + "/"); };
  std::erase_if(running_, [&](const auto& running) { return is_of(running.second); });
  std::erase_if(crashes_, [&](const auto& crashes) { return is_of(crashes.first); });
}

int Journal::crashes_during(const std::string& id) const {
  const auto found = crashes_.find(id);
  return found == crashes_.end() ? 0 : found->second;
}

void Journal::note_end() {
  if (running_.empty()) return;
  try {
    append(wire::EndedRecord{});
  } catch (const Error&) {
    // Why the disk takes nothing more is said by whoever wrote before.
  }
}

bool Journal::foreign_run() const { return last_run_ && last_run_->protocol != wire::kProtocol; }

std::optional<Journal::Foreign> Journal::foreign() const {
  if (!foreign_run() || foreign_trials_ == 0) return std::nullopt;
  return Foreign{last_run_->protocol, foreign_trials_};
}

const Journal::Recorded<Trial>* Journal::find(const std::string& id) const {
  const auto found = trials_.find(id);
  return found == trials_.end() ? nullptr : &found->second;
}

const Journal::Recorded<Finals>* Journal::find_finals(const std::string& id) const {
  const auto found = finals_.find(id);
  return found == finals_.end() ? nullptr : &found->second;
}

void Journal::append(const wire::Record& record) {
  const std::string line = encode(record) + "\n";
  if (torn_) cut_torn_line();
  if (!file_.write(line)) {
    const std::string why = std::strerror(errno);
    torn_ = true;
    cut_torn_line();
    fail_to_write(why);
  }
  end_ += std::ssize(line);
  if (!unflushed_since_) unflushed_since_ = std::chrono::steady_clock::now();
  accept(record);
  flush(false);
}

bool Journal::is_gone() const {
  struct stat ours {
  }, there{};
  if (::fstat(file_.get(), &ours) != 0 || !S_ISREG(ours.st_mode)) return false;
  return ::stat(path_.c_str(), &there) != 0 || there.st_dev != ours.st_dev || there.st_ino != ours.st_ino ||
         there.st_size < end_;
}

void Journal::flush(bool now) {
  if (!unflushed_since_) return;
  if (!now && std::chrono::steady_clock::now() - *unflushed_since_ < std::chrono::seconds(1)) return;
  // Devices have nothing to flush.
  if (::fdatasync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) fail_to_write(std::strerror(errno));
  unflushed_since_.reset();
}

void Journal::fail_to_write(const std::string& why) const {
  throw Error(ExitCode::environment, "cannot write to the journal " + path_.string() + ": " + why +
                                         "; the same command continues from here once there is room");
}

}  // namespace tune::recording

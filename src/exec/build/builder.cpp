#include "exec/build/builder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "exec/process/runner.h"
#include "model/values/error.h"
#include "platform/store/store_care.h"

namespace tune::exec {
namespace fs = std::filesystem;
namespace {

// This file lies next to the artifact. It has what the worker reported about the build, and the artifact's hash, so
// that an entry is complete in itself. Nothing is flushed to disk, which would cost more than everything else here: a
// file that a power failure has damaged has another hash.
constexpr const char* kRecord = "built.json";

void write_record(const fs::path& folder, const wire::Built& built) {
  std::ofstream file(folder / kRecord);
  file << encode(wire::Event(built)) << '\n' << platform::hash_file(folder / built.artifact);
  file.close();
  if (!file)
    throw Error(ExitCode::environment, "cannot write " + (folder / kRecord).string() + ": " + std::strerror(errno));
}

constexpr int kMostTimes = 4;

[[noreturn]] void fail_as_rewritten() {
  throw Error(ExitCode::environment,
              "the files that are built are written to again and again, so that it is not known what was compiled; end "
              "what writes to them, and run the same command again");
}

}  // namespace

std::optional<Artifact> read_entry(const platform::Store& store, const fs::path& entry, const std::string& key) try {
  const std::string record = store.read(entry, kRecord);
  const std::size_t newline = record.find('\n');
  const auto built = std::get<wire::Built>(wire::decode_event(record.substr(0, newline)));
  const std::string hash = platform::Hash().add(store.read(entry, built.artifact)).hex();
  if (newline == std::string::npos || record.substr(newline + 1) != hash) return std::nullopt;
  return Artifact{entry / built.artifact, {key, hash, 0, built.properties}, built.reads};
} catch (const Error& error) {
  if (error.code() == ExitCode::environment) throw;
  return std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;  // damaged: built again
}

Builder::Builder(const WorkerLauncher& launcher, const RequestFactory& requests, platform::StorePlaces store, int jobs,
                 bool builds)
    : launcher_(&launcher), inputs_(requests), places_(std::move(store)), jobs_(jobs), builds_(builds) {}

Builder::~Builder() {
  for (const platform::LockedFolder& folder : kept_) store_->discard(folder.path());
  for (const auto& [id, job] : running_) store_->discard(job.folder.path());
  if (built_ && places_.limit > 0) platform::trim(store_->folder(), places_.limit);
}

// Programs that are not built need none.
platform::Store& Builder::store() {
  if (store_ == nullptr) store_ = std::make_unique<platform::Store>(places_);
  return *store_;
}

const Builder::Result* Builder::find(const std::string& key) {
  if (const auto found = results_.find(key); found != results_.end()) return &found->second;
  if (pending_.contains(key)) return nullptr;
  std::optional<Artifact> artifact = stored(key);
  return artifact ? &remember(key, std::move(*artifact)) : nullptr;
}

std::optional<Artifact> Builder::stored(const std::string& key) {
  for (const fs::path& entry : store().find(key)) {
    if (auto artifact = read_entry(store(), entry, key)) {
      store().note_use(entry);
      return artifact;
    }
    store().discard(entry);
  }
  return std::nullopt;
}

platform::FileStamp Builder::stamp_of(const Result& result) {
  const auto* artifact = std::get_if<Artifact>(&result);
  return artifact == nullptr ? platform::FileStamp() : platform::stamp_of(artifact->path);
}

const Builder::Result& Builder::remember(const std::string& key, Result result) {
  stamps_[key] = stamp_of(result);
  if (const auto* artifact = std::get_if<Artifact>(&result)) inputs_.note_reads(artifact->reads);
  return results_.insert_or_assign(key, std::move(result)).first->second;
}

// Another run, or a backup, may have touched the file without changing it: its hash tells.
const Builder::Result* Builder::find_intact(const std::string& key) {
  const auto found = results_.find(key);
  const bool built = found != results_.end() && std::holds_alternative<Artifact>(found->second);
  const platform::FileStamp stamp = built ? stamp_of(found->second) : platform::FileStamp();
  if (built && (stamp == platform::FileStamp() || stamp != stamps_[key])) results_.erase(found);
  return find(key);
}

void Builder::want(const std::string& key, const wire::BuildRequest& request) {
  if (find(key) != nullptr) return;
  if (!builds_) {
    remember(key, Failure{Stage::build,
                          Cause::reported,
                          "it is not in the build store, and nothing is built here",
                          {},
                          {.not_tried = true}});
    return;
  }
  if (const auto found = std::ranges::find(later_, key, &Job::key); found != later_.end()) {
    later_.erase(found);
    pending_.erase(key);
  }
  if (!pending_.insert(key).second) return;
  queue_.push_back({key, {}, request, nullptr});
}

bool Builder::want_later(const std::string& key, const wire::BuildRequest& request) {
  if (!builds_ || find(key) != nullptr || !pending_.insert(key).second) return false;
  later_.push_back({key, {}, request, nullptr});
  return true;
}

void Builder::end_tuning() {
  for (const Job& job : queue_) pending_.erase(job.key);
  queue_.clear();
  std::erase_if(results_, [](const auto& entry) {
    const auto* failure = std::get_if<Failure>(&entry.second);
    return failure != nullptr && (failure->facts.machine_suspected || failure->facts.limit_seconds > 0);
  });
}

void Builder::start_queued() {
  while (running() < jobs_ && !(queue_.empty() && later_.empty())) {
    std::deque<Job>& first = queue_.empty() ? later_ : queue_;
    Job job = std::move(first.front());
    first.pop_front();
    job.rewritten = inputs_.rewritten();
    if (++job.times > kMostTimes) fail_as_rewritten();
    job.folder = store().begin(job.key);
    job.request.output = job.folder.path().string();
    job.process = std::make_unique<WorkerProcess>(launcher_->start(job.request));
    const platform::ProcessHost::Id id = job.process->id();
    running_.emplace(id, std::move(job));
  }
}

bool Builder::handle(const platform::ProcessHost::Event& event) {
  const auto* line = std::get_if<platform::ProcessHost::Line>(&event);
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&event);
  const auto found = running_.find(process_of(event));
  if (found == running_.end()) return false;
  if (line) found->second.process->handle(*line);
  if (ended) {
    found->second.process->handle(*ended);
    const bool saw_two_versions = inputs_.rewritten() != found->second.rewritten;
    Job job = std::move(found->second);
    running_.erase(found);
    saw_two_versions ? begin_again(std::move(job)) : finish(std::move(job));
  }
  return true;
}

void Builder::begin_again(Job job) {
  store_->discard(job.folder.path());
  queue_.push_front({std::move(job.key), {}, std::move(job.request), nullptr, 0, job.times});
}

void Builder::finish(Job job) {
  seconds_ += job.process->stage_times().of(Stage::build);
  pending_.erase(job.key);
  Result result = result_of(job);
  const auto* artifact = std::get_if<Artifact>(&result);
  if (artifact != nullptr && artifact->path.parent_path() == job.folder.path())
    kept_.push_back(std::move(job.folder));
  else
    store_->discard(job.folder.path());
  remember(job.key, std::move(result));
}

Builder::Result Builder::result_of(const Job& job) {
  if (job.process->failure()) return *job.process->failure();
  if (!job.process->built()) return Failure{Stage::build, Cause::protocol, "the worker did not say what it built", {}};
  const wire::Built& built = *job.process->built();
  const fs::path folder = job.folder.path();
  std::error_code ignored;
  if (fs::path(built.artifact).has_parent_path() || !fs::is_regular_file(folder / built.artifact, ignored))
    return Failure{Stage::build, Cause::protocol, "the worker said built, but left no artifact", {}};
  write_record(folder, built);
  const auto own = read_entry(*store_, folder, job.key);
  const fs::path entry = store_->commit(folder, job.key);
  built_ = true;
  auto artifact = read_entry(*store_, entry, job.key);
  // Another user's entry that is damaged or cannot be read stays: this run goes on with what it has built. If somebody
  // has removed the entry, nothing is there either, and find_intact says so.
  if (!artifact) artifact = own;
  if (!artifact)
    throw Error(ExitCode::environment, folder.string() +
                                           ": what was built there in the build store cannot be read, or has changed; "
                                           "fix this, or choose another store by --store DIR");
  artifact->info.seconds = built.seconds;
  return std::move(*artifact);
}

}  // namespace tune::exec

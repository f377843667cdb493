#include "exec/builder.h"

#include <algorithm>

namespace tune {
namespace fs = std::filesystem;
namespace {

// What the worker said of the build stands beside the artifact, so that an entry is complete in itself.
constexpr const char* kRecord = "built.json";

std::optional<Artifact> read_entry(const fs::path& entry, const std::string& key) {
  try {
    const auto event = wire::decode_event(read_file(entry / kRecord));
    const auto& built = std::get<wire::Built>(event);
    Artifact artifact{entry / built.artifact, {key, hash_file(entry / built.artifact), 0, built.properties}};
    return artifact;
  } catch (const std::exception&) {
    return std::nullopt;  // damaged by hand: built again
  }
}

}  // namespace

Builder::Builder(Processes& processes, fs::path worker, fs::path store, const Deadlines& deadlines, int jobs)
    : processes_(&processes),
      worker_(std::move(worker)),
      store_(std::move(store)),
      deadlines_(deadlines),
      jobs_(jobs) {}

const Builder::Result* Builder::find(const std::string& key) {
  if (const auto found = results_.find(key); found != results_.end()) return &found->second;
  const auto entry = store_.find(key);
  if (!entry) return nullptr;
  auto artifact = read_entry(*entry, key);
  if (!artifact) {
    store_.discard(*entry);
    return nullptr;
  }
  return &results_.emplace(key, std::move(*artifact)).first->second;
}

void Builder::want(const std::string& key, const wire::BuildRequest& request) {
  const auto same = [&](const Job& job) { return job.key == key; };
  if (find(key) != nullptr || std::any_of(queue_.begin(), queue_.end(), same)) return;
  for (const auto& [id, job] : running_)
    if (job.key == key) return;
  queue_.push_back({key, {}, request, nullptr});
}

void Builder::start_queued() {
  while (!queue_.empty() && running() < jobs_) {
    Job job = std::move(queue_.front());
    queue_.pop_front();
    job.folder = store_.begin(job.key);
    job.request.output = job.folder.string();
    job.process = std::make_unique<WorkerProcess>(*processes_, worker_, job.request, deadlines_);
    const Processes::Id id = job.process->id();
    running_.emplace(id, std::move(job));
  }
}

bool Builder::handle(const Processes::Event& event) {
  const auto* line = std::get_if<Processes::Line>(&event);
  const auto* ended = std::get_if<Processes::Ended>(&event);
  const auto found = running_.find(line ? line->id : ended ? ended->id : 0);
  if (found == running_.end()) return false;
  if (line) found->second.process->handle(*line);
  if (ended) {
    found->second.process->handle(*ended);
    finish(found->second);
    running_.erase(found);
  }
  return true;
}

void Builder::finish(Job& job) {
  if (job.process->failure()) {
    store_.discard(job.folder);
    results_.emplace(job.key, *job.process->failure());
    return;
  }
  const wire::Built& built = *job.process->built();
  write_file(job.folder / kRecord, encode(wire::Event(built)));
  const fs::path entry = store_.commit(job.folder, job.key);
  if (auto artifact = read_entry(entry, job.key)) {
    artifact->info.seconds = built.seconds;
    results_.emplace(job.key, std::move(*artifact));
  } else {
    results_.emplace(job.key,
                     Failure{Stage::build, Cause::protocol, "the worker said built, but left no artifact", {}});
  }
}

}  // namespace tune

#include "exec/process/worker_process.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/values/error.h"
#include "platform/files/disk_space.h"
#include "platform/files/log.h"

namespace tune::exec {
namespace {

const char* mode_of(const wire::Request& request) {
  if (std::holds_alternative<wire::BuildRequest>(request)) return "build";
  if (std::holds_alternative<wire::ReferenceRequest>(request)) return "reference";
  return "measure";
}

platform::ProcessHost::Clock::duration ticks(std::chrono::duration<double> seconds) {
  return std::chrono::duration_cast<platform::ProcessHost::Clock::duration>(seconds);
}

std::string seconds_text(std::chrono::duration<double> seconds) {
  std::string text = std::to_string(seconds.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

std::filesystem::path make_folder(const std::filesystem::path& parent) {
  std::string name = (parent / "XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::environment, "cannot create " + name + ": " + std::strerror(errno));
  return name;
}

}  // namespace

WorkerProcess::WorkerProcess(platform::ProcessHost& processes, const std::filesystem::path& worker,
                             const wire::Request& request, const Deadlines& deadlines,
                             const std::filesystem::path& scratch, Environment environment)
    : processes_(&processes),
      temporary_(make_folder(scratch)),
      deadlines_(deadlines),
      measures_(std::holds_alternative<wire::MeasureRequest>(request)),
      stage_(measures_ ? Stage::start : Stage::build),
      asked_(processes.now()) {
  if (const auto* build = std::get_if<wire::BuildRequest>(&request)) output_ = build->output;
  if (const auto* measure = std::get_if<wire::MeasureRequest>(&request))
    runs_program_ = measure->launches.empty() && !measure->vendor;
  platform::Command command;
  command.argv = {worker.string(), mode_of(request)};
  command.environment = std::move(environment);
  command.environment["TMPDIR"] = temporary_.string();
  id_ = processes.start(command);
  platform::log(fmt::format("worker {} {}: started", id_, mode_of(request)));
  processes.send(id_, encode(request));
  processes.set_deadline(id_, ticks(measures_ ? deadlines.run : deadlines.build));
}

void WorkerProcess::send(wire::Command command) {
  if (std::holds_alternative<wire::Load>(command)) {
    load_sent_ = true;
    stage_ = Stage::load;
  } else if (auto* go = std::get_if<wire::Go>(&command)) {
    go->answer_within = deadlines_.run.count();
    go_pending_ = true;
    check_pending_ = go->check && !waits_;
    may_wait_ = go->pause;
    answered_ = waits_ = false;
    stage_ = check_pending_ ? Stage::check : Stage::measure;
  } else if (std::holds_alternative<wire::Next>(command)) {
    forget_spec();
  } else {
    done_sent_ = true;
  }
  asked_ = processes_->now();
  processes_->send(id_, encode(command));
  processes_->set_deadline(id_, ticks(deadlines_.run));
}

// The process serves the next spec from the state that it was in after its hello.
void WorkerProcess::forget_spec() {
  stage_ = Stage::start;
  loaded_ = load_sent_ = go_pending_ = check_pending_ = may_wait_ = waits_ = answered_ = false;
  checked_ = {};
}

void WorkerProcess::count(Stage stage) {
  const auto now = processes_->now();
  stage_times_.of(stage) += std::chrono::duration<double>(now - asked_).count();
  asked_ = now;
}

std::optional<wire::Measured> WorkerProcess::take_measured() { return std::exchange(measured_, std::nullopt); }

void WorkerProcess::handle(const platform::ProcessHost::Line& line) {
  platform::log(fmt::format("worker {}: {}", id_, line.text));
  if (!complaint_.empty()) return;
  try {
    std::visit([this](const auto& event) { accept(event); }, wire::decode_event(line.text));
  } catch (const wire::Malformed& malformed) {
    complain(std::string("the worker broke the protocol: ") + malformed.what());
  }
}

void WorkerProcess::complain(const std::string& what) {
  complaint_ = what;
  processes_->kill(id_);
}

void WorkerProcess::expect(bool in_order, const char* event) {
  if (!in_order)
    throw wire::Malformed(std::string("unexpected '") + event + "' in stage " + std::string(to_text(stage_)));
}

void WorkerProcess::accept(const wire::Hello& hello) {
  expect(measures_ && !hello_, "hello");
  if (hello.protocol != wire::kProtocol)
    throw wire::Malformed("it speaks protocol " + std::to_string(hello.protocol) + ", not " +
                          std::to_string(wire::kProtocol) + ": install tune and its workers from one build");
  hello_ = true;
  count(Stage::start);
}

void WorkerProcess::accept(const wire::Loaded&) {
  expect(load_sent_ && !loaded_ && !answered_, "loaded");
  loaded_ = true;
  count(Stage::load);
  processes_->set_deadline(id_, std::nullopt);
}

void WorkerProcess::accept(const wire::Checked& checked) {
  expect(go_pending_ && check_pending_ && !answered_, "checked");
  check_pending_ = false;
  expect(may_wait_ || !checked.waits, "waits");
  checked_ = checked;
  stage_ = Stage::measure;
  count(Stage::check);
  waits_ = checked.waits;
  if (!waits_) return;
  go_pending_ = false;
  processes_->set_deadline(id_, std::nullopt);
}

void WorkerProcess::accept(const wire::Measured& measured) {
  expect(go_pending_ && !answered_, "measured");
  go_pending_ = false;
  answered_ = true;
  measured_ = measured;
  count(stage_);
  processes_->set_deadline(id_, std::nullopt);
}

void WorkerProcess::accept(const wire::Built& built) {
  expect(!measures_ && !answered_, "built");
  answered_ = true;
  built_ = built;
}

void WorkerProcess::accept(const wire::Referenced&) {
  expect(!measures_ && !answered_, "referenced");
  answered_ = referenced_ = true;
  processes_->set_deadline(id_, std::nullopt);
}

void WorkerProcess::accept(const wire::Failed& failed) {
  expect(!answered_, "failed");
  answered_ = true;
  failed_ = failed;
  stage_ = failed.stage;
  count(stage_);
}

void WorkerProcess::handle(const platform::ProcessHost::Ended& ended) {
  ended_ = true;
  judge(ended);
  const bool needs_room = failure_ && failure_->cause != Cause::timed_out && (!output_.empty() || runs_program_);
  const bool was_full = needs_room && !full_disk().empty();
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
  if (failure_ && !output_.empty()) std::filesystem::remove_all(output_, ignored);
  const std::string lack = needs_room ? lack_of_room(was_full) : "";
  if (was_full && lack.empty()) note_filled_disk();
  if (!answered_ || built_) count(stage_);
  platform::log(fmt::format("worker {}: {}", id_, platform::to_text(ended.exit)));
  if (failure_ && failure_->cause == Cause::reported && failed_->environment)
    throw Error(ExitCode::environment, failure_->message + "; the same command continues from here once this is fixed");
  if (!lack.empty())
    throw Error(ExitCode::environment, fmt::format("{} ({}); the same command continues from here once there is room",
                                                   lack, failure_->headline()));
}

std::string WorkerProcess::full_disk() const {
  for (const auto& folder : {output_.parent_path(), temporary_.parent_path()})
    if (!folder.empty() && platform::is_full(folder)) return folder.string();
  return "";
}

// Looked for after what it left is removed: a disk that it filled itself is its own failure. What compilers left they
// may have removed themselves.
std::string WorkerProcess::lack_of_room(bool was_full) const {
  if (const std::string folder = full_disk(); !folder.empty()) return "the disk of " + folder + " is full";
  if (output_.empty() || was_full) return "";
  if (!failed_ || failed_->room_error == 0) return "";
  return std::string("a build failed because there was no disk space: ") + std::strerror(failed_->room_error);
}

// The disk had room again when what it left was removed. Next to others it may not have been the only one to fill it.
void WorkerProcess::note_filled_disk() {
  failure_->message.insert(failure_->headline().size(), " (it had filled the disk)");
  failure_->facts.machine_suspected = true;
}

void WorkerProcess::judge(const platform::ProcessHost::Ended& ended) {
  const platform::Exit& exit = ended.exit;
  if (exit.unreaped) {
    failure_ = judged(ended, Cause::timed_out, platform::to_text(exit));
  } else if (exit.timed_out) {
    const std::chrono::duration<double> limit = stage_ == Stage::build ? deadlines_.build : deadlines_.run;
    failure_ = judged(ended, Cause::timed_out, "no answer within " + seconds_text(limit));
    failure_->facts = {.limit_seconds = limit.count()};
  } else if (!complaint_.empty()) {
    failure_ = judged(ended, Cause::protocol, complaint_);
  } else if (!exit.clean()) {
    failure_ = judged(ended, Cause::crashed, platform::to_text(exit));
    failure_->facts = facts_of_end(exit.code, exit.signal);
  } else if (failed_) {
    failure_ = judged(ended, Cause::reported, failed_->message);
    failure_->facts = failed_->facts;
  } else if (!answered_) {
    failure_ = judged(ended, Cause::protocol, "the process ended with exit code 0 but without a result");
  } else if (measures_ && !done_sent_) {
    failure_ = judged(ended, Cause::protocol, "the process ended with exit code 0 before it was told to");
  }
}

Failure WorkerProcess::judged(const platform::ProcessHost::Ended& ended, Cause cause,
                              const std::string& message) const {
  return {stage_, cause, message, ended.captured};
}

}  // namespace tune::exec

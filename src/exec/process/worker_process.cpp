#include "exec/process/worker_process.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "model/values/error.h"
#include "platform/files/file.h"
#include "platform/files/log.h"

namespace tune::exec {
namespace {

const char* mode_of(const wire::Request& request) {
  if (std::holds_alternative<wire::BuildRequest>(request)) return "build";
  if (std::holds_alternative<wire::ReferenceRequest>(request)) return "reference";
  return "measure";
}

std::string seconds_text(std::chrono::duration<double> seconds) {
  std::string text = std::to_string(seconds.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

Message message_of(const wire::Command& command) {
  if (std::holds_alternative<wire::Load>(command)) return Message::load;
  if (std::holds_alternative<wire::Next>(command)) return Message::next;
  if (std::holds_alternative<wire::Done>(command)) return Message::done;
  const auto& go = std::get<wire::Go>(command);
  if (!go.checks()) return Message::go;
  return go.checks_alone() ? Message::check_alone : Message::check;
}

wire::Malformed unexpected(std::string_view message, Stage stage) {
  return wire::Malformed(fmt::format("unexpected '{}' in stage {}", message, to_text(stage)));
}

std::filesystem::path make_folder(const std::filesystem::path& parent) {
  std::string name = (parent / "XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::environment, "cannot create " + name + ": " + std::strerror(errno));
  return name;
}

}  // namespace

WorkerProcess::WorkerProcess(platform::ProcessHost& processes, const wire::Request& request, const Deadlines& deadlines)
    : processes_(&processes),
      deadlines_(deadlines),
      phase_(std::holds_alternative<wire::MeasureRequest>(request) ? Phase::starting : Phase::working),
      stage_(phase_ == Phase::starting ? Stage::start : Stage::build),
      asked_(processes.now()) {
  if (const auto* build = std::get_if<wire::BuildRequest>(&request)) output_ = build->output;
  if (const auto* measure = std::get_if<wire::MeasureRequest>(&request)) runs_program_ = measure->program() != nullptr;
}

WorkerProcess WorkerProcess::start(platform::ProcessHost& processes, const std::filesystem::path& worker,
                                   const wire::Request& request, const Deadlines& deadlines,
                                   const std::filesystem::path& scratch, Environment environment) {
  WorkerProcess process(processes, request, deadlines);
  process.temporary_ = make_folder(scratch);
  platform::Command command;
  command.argv = {worker.string(), mode_of(request)};
  command.environment = std::move(environment);
  command.environment["TMPDIR"] = process.temporary_.string();
  process.id_ = processes.start(command);
  platform::log(fmt::format("worker {} {}: started", process.id_, mode_of(request)));
  processes.send(process.id_, encode(request));
  const auto deadline = process.phase_ == Phase::starting ? deadlines.run : deadlines.build;
  processes.set_deadline(process.id_, platform::ticks(deadline.count()));
  return process;
}

void WorkerProcess::send(wire::Command command) {
  const Step* step = find_step(phase_, message_of(command));
  if (step == nullptr) throw std::logic_error("a worker is sent a command that it cannot obey");
  phase_ = step->to;
  if (auto* go = std::get_if<wire::Go>(&command)) {
    go->answer_within = deadlines_.run.count();
    stage_ = phase_ == Phase::measuring ? Stage::measure : Stage::check;
  } else if (std::holds_alternative<wire::Load>(command)) {
    stage_ = Stage::load;
  } else if (std::holds_alternative<wire::Next>(command)) {
    stage_ = Stage::start;
    checked_ = {};
  }
  asked_ = processes_->now();
  processes_->send(id_, encode(command));
  processes_->set_deadline(id_, platform::ticks(deadlines_.run.count()));
}

void WorkerProcess::send(const wire::ReferenceRequest& request) {
  const Step* step = find_step(phase_, Message::reference);
  if (step == nullptr) throw std::logic_error("a worker that makes no reference is asked for one");
  phase_ = step->to;
  asked_ = processes_->now();
  processes_->send(id_, encode(wire::Request(request)));
  processes_->set_deadline(id_, platform::ticks(deadlines_.build.count()));
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

const Step& WorkerProcess::expect(Message message) const {
  const Step* step = failed_ ? nullptr : find_step(phase_, message);
  if (step == nullptr) throw unexpected(to_text(message), stage_);
  return *step;
}

void WorkerProcess::advance(Message message) {
  const Step& step = expect(message);
  phase_ = step.to;
  if (!step.deadline) processes_->set_deadline(id_, std::nullopt);
}

void WorkerProcess::accept(const wire::Hello& hello) {
  expect(Message::hello);
  if (hello.protocol != wire::kProtocol)
    throw wire::Malformed("it speaks protocol " + std::to_string(hello.protocol) + ", not " +
                          std::to_string(wire::kProtocol) + ": install tune and its workers from one build");
  advance(Message::hello);
  count(Stage::start);
}

void WorkerProcess::accept(const wire::Loaded&) {
  advance(Message::loaded);
  count(Stage::load);
}

void WorkerProcess::accept(const wire::Checked& checked) {
  expect(Message::checked);
  advance(checked.waits ? Message::waits : Message::checked);
  checked_ = checked;
  stage_ = Stage::measure;
  count(Stage::check);
}

void WorkerProcess::accept(const wire::Measured& measured) {
  advance(Message::measured);
  measured_ = measured;
  count(stage_);
}

void WorkerProcess::accept(const wire::Built& built) {
  advance(Message::built);
  built_ = built;
}

void WorkerProcess::accept(const wire::Referenced&) { advance(Message::referenced); }

void WorkerProcess::accept(const wire::Failed& failed) {
  if (failed_ || !owes_result(phase_)) throw unexpected("failed", stage_);
  failed_ = failed;
  stage_ = failed.stage;
  count(stage_);
}

void WorkerProcess::handle(const platform::ProcessHost::Ended& ended) {
  judge(ended);
  const bool needs_room = failure_ && failure_->cause != Cause::timed_out && (!output_.empty() || runs_program_);
  const bool was_full = needs_room && !full_disk().empty();
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
  if (failure_ && !output_.empty()) std::filesystem::remove_all(output_, ignored);
  const std::string lack = needs_room ? lack_of_room(was_full) : "";
  if (was_full && lack.empty()) note_filled_disk();
  if (!failed_ && (owes_result(phase_) || built_)) count(stage_);
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
  failure_->add_to_headline(" (it had filled the disk)");
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
  } else if (owes_result(phase_)) {
    failure_ = judged(ended, Cause::protocol, "the process ended with exit code 0 but without a result");
  } else if (phase_ == Phase::measured) {
    failure_ = judged(ended, Cause::protocol, "the process ended with exit code 0 before it was told to");
  }
}

Failure WorkerProcess::judged(const platform::ProcessHost::Ended& ended, Cause cause,
                              const std::string& message) const {
  return {stage_, cause, message, ended.captured};
}

}  // namespace tune::exec

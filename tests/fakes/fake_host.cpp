#include "fakes/fake_host.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>

#include "wire/messages.h"

namespace tune {
namespace {

constexpr auto kStart = std::chrono::milliseconds(1);

wire::Measured measured(const FakeConduct& conduct) {
  wire::Measured measured;
  const double seconds = conduct.seconds;
  measured.timing = {7, seconds, seconds, seconds, seconds, seconds, seconds, conduct.stops_early};
  measured.checked = true;
  return measured;
}

std::int64_t number_of(const wire::MeasureRequest& request) {
  const wire::KernelRun* run = request.kernel();
  return run == nullptr || run->launches.empty() ? 0 : run->launches.front().args.back().integer;
}

}  // namespace

platform::ProcessHost::Id FakeHost::start(const platform::Command& command) {
  Process& process = processes_[++last_];
  process.mode = command.argv.at(1);
  modes.push_back(process.mode);
  process.worker.id = last_;
  const auto device = command.environment.find("FAKE_DEVICE");
  process.worker.device = device == command.environment.end() ? 0 : std::stoi(device->second);
  return last_;
}

void FakeHost::send(Id id, std::string_view line) {
  const auto found = processes_.find(id);
  if (found == processes_.end()) return;
  if (std::exchange(found->second.has_request, true) && found->second.mode == "measure")
    obey(found->second, wire::decode_command(line));
  else
    begin(found->second, wire::decode_request(line));
}

void FakeHost::begin(Process& process, const wire::Request& request) {
  if (const auto* build_request = std::get_if<wire::BuildRequest>(&request)) build(process.worker.id, *build_request);
  if (const auto* wanted = std::get_if<wire::ReferenceRequest>(&request)) {
    if (++process.references == 2 && fails_second_reference) return end(process.worker.id, SIGKILL, kStart);
    ++references;
    std::ofstream(wanted->output) << "made";
    say(process.worker.id, wire::Referenced{}, kStart);
    if (!wanted->share) end(process.worker.id, 0, kStart);
  }
  if (const auto* measure = std::get_if<wire::MeasureRequest>(&request)) {
    process.worker.spec = number_of(*measure);
    process.worker.artifact = measure->artifact;
    reference = measure->reference;
    process.worker.process = ++processes_of[process.worker.spec];
    say(process.worker.id, wire::Hello{}, kStart);
  }
}

void FakeHost::build(Id id, const wire::BuildRequest& request) {
  std::ofstream(std::filesystem::path(request.output) / "artifact") << "built";
  say(id, wire::Built{"artifact", 0.001, {}, reads}, build_time);
  end(id, 0, build_time);
}

void FakeHost::obey(Process& process, const wire::Command& command) {
  if (std::holds_alternative<wire::Load>(command)) load(process.worker);
  if (const auto* present = std::get_if<wire::Go>(&command)) {
    const bool is_last = present->spec == process.beside.size();
    go(process, is_last ? process.worker : process.beside.at(present->spec), *present);
  }
  if (const auto* next = std::get_if<wire::Next>(&command)) {
    if (next->beside) process.beside.push_back(process.worker);
    process.worker.spec = number_of(next->request);
    process.worker.artifact = next->request.artifact;
    process.worker.rounds = 0;
    ++process.worker.served;
    if (next->beside) process.worker.process = ++processes_of[process.worker.spec];
  }
  if (std::holds_alternative<wire::Done>(command)) {
    const auto close = behave(process.worker).close;
    note(Interval::What::closes, process.worker, close);
    end(process.worker.id, 0, close);
  }
}

void FakeHost::load(const FakeWorker& worker) {
  const FakeConduct conduct = behave(worker);
  const auto length = worker.served > 0 ? FakeConduct::Duration(0) : conduct.open;
  if (worker.served == 0) note(Interval::What::opens, worker, length);
  const bool fails = conduct.fails_to_load || (!worker.artifact.empty() && !std::filesystem::exists(worker.artifact));
  if (!conduct.finds_no_device && !fails) return say(worker.id, wire::Loaded{}, length);
  const std::string message = conduct.finds_no_device ? "no device" : "said to have failed to load";
  say(worker.id, wire::Failed{.stage = Stage::load, .message = message, .no_device = conduct.finds_no_device}, length);
  end(worker.id, 0, length);
}

void FakeHost::go(Process& process, FakeWorker& worker, const wire::Go& go) {
  const FakeConduct conduct = behave(worker);
  const Id id = worker.id;
  Clock::duration length{};
  if (go.checks() && !std::exchange(process.paused, go.checks_alone())) {
    length = conduct.check;
    if (conduct.fails) {
      say(id, wire::Failed{Stage::check, "said to have failed"}, length);
      return end(id, 0, length);
    }
    say(id, wire::Checked{0.5, 0.001, go.checks_alone()}, length);
    if (go.checks_alone() && conduct.ends_after_check) end(id, SIGKILL, length);
  }
  if (go.checks_alone()) return;
  note(Interval::What::times, worker, length + conduct.time);
  if (conduct.ends_while_timed) return end(id, SIGKILL, length + conduct.time);
  say(id, measured(conduct), length + conduct.time);
  ++worker.rounds;
  if (conduct.ends_after_time) end(id, SIGKILL, length + conduct.time);
}

void FakeHost::kill(Id id) { end(id, SIGKILL); }

std::vector<platform::ProcessHost::Id> FakeHost::running() const {
  std::vector<Id> ids;
  for (const auto& [id, process] : processes_) ids.push_back(id);
  return ids;
}

void FakeHost::say(Id id, const wire::Event& event, Clock::duration after) {
  coming_.emplace(now_ + after, Line{id, wire::encode(event)});
}

void FakeHost::end(Id id, int signal, Clock::duration after) {
  platform::Exit exit;
  exit.signal = signal;
  coming_.emplace(now_ + after, Ended{id, exit, ""});
}

void FakeHost::note(Interval::What what, const FakeWorker& worker, Clock::duration length) {
  intervals.push_back({what, worker.device, worker.id, now_, now_ + length});
}

// What a process has not yet said when it ends is never heard.
std::optional<platform::ProcessHost::Event> FakeHost::wait(std::optional<Clock::time_point> until) {
  while (!coming_.empty() && (!until || coming_.begin()->first <= *until)) {
    now_ = std::max(now_, coming_.begin()->first);
    Event event = std::move(coming_.extract(coming_.begin()).mapped());
    const auto* line = std::get_if<Line>(&event);
    const auto* ended = std::get_if<Ended>(&event);
    if (!processes_.contains(line ? line->id : ended->id)) continue;
    if (ended) processes_.erase(ended->id);
    return event;
  }
  if (!until) throw std::logic_error("nothing is going to happen");
  now_ = std::max(now_, *until);
  return std::nullopt;
}

int FakeHost::disturbed_times() const {
  int disturbed = 0;
  for (const Interval& timed : intervals)
    for (const Interval& other : intervals)
      disturbed += timed.what == Interval::What::times && other.what != Interval::What::times &&
                   timed.device == other.device && other.begin < timed.end && timed.begin < other.end;
  return disturbed;
}

FakeTuning::FakeTuning(int specs, Backend backend) {
  folder_.write("a.cu", "");
  plan_ =
      load_text(folder_,
                "{name: x, file: a.cu, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}}, params: {$N: {range: [1, " +
                    std::to_string(specs) + "]}}, launch: {grid: [1], block: [1], args: [A, B, C, N]}}")
          .plan;
  wire::Hello hello;
  hello.backend = std::get<KernelPlan>(plan_.subject).backend = backend;
  hello.compiler = "fake";
  hello.device.name = "card";
  requests_ = std::make_unique<exec::RequestFactory>(plan_, hello, 0);
}

std::unique_ptr<exec::MeasureService> FakeTuning::service(int devices, bool share_processes, bool one_process,
                                                          bool keeps_processes) {
  exec::WorkerRules rules;
  rules.worker = "worker";
  rules.store = {path_ / "store", true, {}};
  rules.jobs = 4;
  rules.share_processes = share_processes;
  rules.turns = false;
  rules.devices.clear();
  for (int i = 0; i < devices; ++i)
    rules.devices.push_back({i, "card " + std::to_string(i), one_process, {{"FAKE_DEVICE", std::to_string(i)}}});
  if (next_host_) pool_ = std::make_shared<exec::WorkerPool>(rules.worker, rules.deadlines, std::move(next_host_));
  rules.pool = pool_;
  rules.keeps_processes = keeps_processes;
  return std::make_unique<exec::MeasureService>(*requests_, std::move(rules));
}

}  // namespace tune

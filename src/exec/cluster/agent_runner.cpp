#include "exec/cluster/agent_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tune::exec {
namespace {

// A spec that ran on two agents when they were lost is not tried on a third, and one that was merely there on four.
constexpr int kMostBlame = 4, kBlameOfRunning = 2;
constexpr auto kForUsage = std::chrono::seconds(2);  // the results are there already

bool in_full(const wire::TrialReport& report) {
  const Measurement* measurement = report.trial.measurement();
  return measurement != nullptr && !measurement->timing.stopped_early;
}

}  // namespace

AgentRunner::AgentRunner(Cluster& cluster, const RequestFactory& requests, RunObserver& observer)
    : cluster_(&cluster),
      requests_(&requests),
      artifacts_(cluster),
      nodes_(cluster.agents().size()),
      calibration_(nodes_.size()),
      observer_(&observer) {
  if (const std::vector<Number> working = cluster.working(); working.size() == 1)
    calibration_.set_anchor(working.front());
}

int AgentRunner::free_slots() const {
  int room = 0;
  for (const Number i : cluster_->working()) {
    const std::size_t has = nodes_[i].out.size() + calibration_.held(i).size();
    room += std::max(cluster_->agents()[i].slots - static_cast<int>(has), 0);
  }
  return room - static_cast<int>(waiting_.size());
}

void AgentRunner::start(const Spec& spec) { place(add_task(spec, {})); }

AgentRunner::Ticket AgentRunner::add_task(const Spec& spec, std::optional<std::size_t> calibration_number) {
  tasks_[++last_ticket_] = {spec, requests_->has_build() ? requests_->build_key(spec) : "", calibration_number};
  return last_ticket_;
}

bool AgentRunner::has_room(Number agent) const {
  return cluster_->works(agent) && static_cast<int>(nodes_[agent].out.size()) < cluster_->agents()[agent].slots;
}

double AgentRunner::load(Number agent) const {
  return static_cast<double>(nodes_[agent].out.size()) / std::max(cluster_->agents()[agent].devices, 1);
}

// Who builds it already, or has built it, takes it unless others have much less to do.
std::optional<AgentRunner::Number> AgentRunner::choose(const Task& task) const {
  std::optional<Number> least;
  for (Number i = 0; i < nodes_.size(); ++i)
    if (has_room(i) && (!least || load(i) < load(*least))) least = i;
  const auto builder = artifacts_.builder(task.key);
  if (!least || !builder || !has_room(*builder)) return least;
  return load(*builder) <= 2 * load(*least) + 2 ? builder : least;
}

void AgentRunner::place(Ticket ticket) {
  if (const auto agent = choose(tasks_.at(ticket)))
    give(ticket, *agent);
  else
    waiting_.push_back(ticket);
}

void AgentRunner::place_waiting() {
  for (std::size_t count = waiting_.size(); count > 0; --count) {
    const Ticket ticket = waiting_.front();
    waiting_.pop_front();
    place(ticket);
    if (!waiting_.empty() && waiting_.back() == ticket) return;
  }
}

void AgentRunner::give(Ticket ticket, Number agent) {
  const Task& task = tasks_.at(ticket);
  nodes_[agent].out.insert(ticket);
  const auto holder = artifacts_.holder(task.key);
  cluster_->send(agent, wire::SpecOrder{ticket, task.spec, holder && *holder != agent});
  artifacts_.note_begun(task.key, agent);
}

std::optional<Trial> AgentRunner::wait(Clock::time_point until) {
  while (finished_.empty())
    if (!next(until)) return std::nullopt;
  Trial trial = std::move(finished_.front());
  finished_.pop_front();
  return trial;
}

std::optional<Cluster::Event> AgentRunner::next(Clock::time_point until) {
  auto event = cluster_->wait(until);
  if (event) handle(*event);
  return event;
}

void AgentRunner::handle(const Cluster::Event& event) {
  if (const auto* lost = std::get_if<Cluster::Lost>(&event)) return lose(lost->agent, lost->why);
  const auto& [agent, report] = std::get<Cluster::Report>(event);
  if (const auto* trial = std::get_if<wire::TrialReport>(&report)) take(agent, *trial);
  if (const auto* started = std::get_if<wire::StartedReport>(&report))
    nodes_[agent].runs[started->device] = started->ticket;
  if (const auto* unable = std::get_if<wire::Unable>(&report)) cluster_->give_up(agent, unable->why);
  if (const auto* usage = std::get_if<wire::UsageReport>(&report)) nodes_[agent].usage = *usage;
  if (const auto* order = std::get_if<wire::ArtifactOrder>(&report)) artifacts_.ask(agent, order->key);
  if (const auto* files = std::get_if<wire::ArtifactFiles>(&report)) artifacts_.pass_on(*files);
  if (const auto* distrust = std::get_if<wire::Distrust>(&report); distrust && distrust_.empty()) {
    distrust_ = distrust->why;
    observer_->distrusts(distrust_);
    stop_sharing();
  }
}

void AgentRunner::take(Number agent, wire::TrialReport report) {
  Node& node = nodes_[agent];
  if (node.out.erase(report.ticket) == 0) return;
  std::erase_if(node.runs, [&](const auto& run) { return run.second == report.ticket; });
  const Task& task = tasks_.at(report.ticket);
  report.trial.spec = task.spec;
  if (!report.trial.failure()) artifacts_.note_built(task.key, agent);
  if (task.calibration_number) {
    take_calibration(agent, *task.calibration_number, report.trial);
    tasks_.erase(report.ticket);
  } else if (calibration_.known(agent) || !report.trial.measurement()) {
    finish(agent, std::move(report));
  } else {
    calibration_.hold(agent, std::move(report));
  }
  choose_anchor();
  place_waiting();
}

void AgentRunner::finish(Number agent, wire::TrialReport report) {
  if (auto* measurement = std::get_if<Measurement>(&report.trial.outcome))
    scale_times(*measurement, calibration_.factor(agent));
  finished_.push_back(std::move(report.trial));
  tasks_.erase(report.ticket);
}

// It has timed enough specs in full; or the most, if nothing is left to wait for but the comparison.
void AgentRunner::choose_anchor() {
  if (calibration_.anchor()) return;
  std::size_t held = 0;
  std::optional<Number> most;
  const auto full = [&](Number i) { return std::ranges::count_if(calibration_.held(i), in_full); };
  for (Number i = 0; i < nodes_.size(); ++i) {
    held += calibration_.held(i).size();
    if (!calibration_.held(i).empty() && (!most || full(i) > full(*most))) most = i;
  }
  if (most && (full(*most) >= wire::kCalibrationSpecs || held == tasks_.size())) compare_with(*most);
}

void AgentRunner::compare_with(Number anchor) {
  std::vector<Spec> specs;
  std::vector<std::optional<double>> seconds;
  for (const wire::TrialReport& report : calibration_.held(anchor)) {
    if (!in_full(report) || std::ssize(specs) == wire::kCalibrationSpecs) continue;
    specs.push_back(report.trial.spec);
    seconds.emplace_back(report.trial.measurement()->timing.median);
  }
  calibration_.set_anchor(anchor);
  calibration_.set_specs(std::move(seconds));
  release(anchor);
  for (const Number other : cluster_->working()) {
    if (other == anchor) continue;
    calibration_.give(other);
    for (std::size_t i = 0; i < specs.size(); ++i) give(add_task(specs[i], i), other);
    release(other);
  }
}

void AgentRunner::take_calibration(Number agent, std::size_t calibration_number, const Trial& trial) {
  if (const Measurement* measurement = trial.measurement())
    calibration_.note(agent, calibration_number, measurement->timing.median);
  else
    calibration_.note(agent, calibration_number,
                      fmt::format("spec {}, which {} could time, fails there: {}", trial.spec.mesh_idx,
                                  cluster_->agents()[*calibration_.anchor()].name,
                                  trial.failure() ? trial.failure()->headline() : "it is pruned after its build"));
  if (const std::string* why = calibration_.failure(agent)) cluster_->give_up(agent, *why);
  release(agent);
}

void AgentRunner::release(Number agent) {
  if (!calibration_.known(agent)) return;
  for (wire::TrialReport& report : calibration_.take_held(agent)) finish(agent, std::move(report));
  tell_best(agent);
}

void AgentRunner::set_best(const Trial&, double seconds, double joules) {
  best_seconds_ = seconds;
  best_joules_ = joules;
  for (Number agent = 0; agent < nodes_.size(); ++agent) tell_best(agent);
}

void AgentRunner::tell_best(Number agent) {
  if (!calibration_.known(agent) || (best_seconds_ == 0 && best_joules_ == 0)) return;
  cluster_->send(agent, wire::BestOrder{best_seconds_ / calibration_.factor(agent), best_joules_});
}

Activity AgentRunner::activity() const {
  Activity activity;
  for (const Node& node : nodes_)
    for (const auto& [device, ticket] : node.runs)
      if (const auto task = tasks_.find(ticket); task != tasks_.end())
        activity.measuring.push_back(task->second.spec.mesh_idx);
  return activity;
}

std::optional<Usage> AgentRunner::usage() {
  for (Node& node : nodes_) node.usage.reset();
  cluster_->send_all(wire::UsageOrder{});
  const auto is_awaited = [&](Number agent) { return !nodes_[agent].usage; };
  const auto until = Clock::now() + kForUsage;
  while (std::ranges::any_of(cluster_->working(), is_awaited) && Clock::now() < until) next(until);
  Usage sum;
  sum.devices = 0;
  for (const Number agent : cluster_->working()) {
    const wire::UsageReport usage = nodes_[agent].usage.value_or(wire::UsageReport{});
    for (std::size_t i = 0; i < std::min(usage.stages.size(), sum.stages.seconds.size()); ++i)
      sum.stages.seconds[i] += usage.stages[i];
    sum.idle_seconds += usage.idle;
    sum.sweep_seconds = std::max(sum.sweep_seconds, usage.sweep);
    sum.devices += usage.devices;
    sum.opening_at_once += usage.opening_at_once;
  }
  return sum.devices > 0 ? std::optional(sum) : std::nullopt;
}

void AgentRunner::stop_sharing() { cluster_->send_all(wire::StopSharing{}); }

// All that follows when an agent is lost: what it had goes to others, and so does what was held back of it. Calibration
// specs were for it alone, and specs that too many agents were lost with fail.
void AgentRunner::lose(Number agent, const std::string& why) {
  const Node node = std::exchange(nodes_[agent], {});
  artifacts_.lose(agent);
  std::vector<Ticket> again;
  for (const wire::TrialReport& held : calibration_.take_held(agent)) again.push_back(held.ticket);
  for (const Ticket ticket : node.out) {
    const bool ran = std::ranges::any_of(node.runs, [&](const auto& run) { return run.second == ticket; });
    if (tasks_.at(ticket).calibration_number)
      tasks_.erase(ticket);
    else if (!blame(ticket, agent, ran))
      again.push_back(ticket);
  }
  const bool to_others = !again.empty() && cluster_->devices() > 0;
  cluster_->warn(fmt::format("lost agent {}: {}{}", cluster_->agents()[agent].name, why,
                             to_others ? fmt::format("; {} of its specs go to others", again.size()) : ""));
  first_agent();  // throws if it was the last
  for (const Ticket ticket : again) place(ticket);
  choose_anchor();
}

// Returns whether the spec is given up for it.
bool AgentRunner::blame(Ticket ticket, Number agent, bool ran) {
  Task& task = tasks_.at(ticket);
  task.blame += ran ? kBlameOfRunning : 1;
  task.lost_with += (task.lost_with.empty() ? "" : ", ") + cluster_->agents()[agent].name;
  if (task.blame < kMostBlame) return false;
  const std::string why = "the agents that had it were lost while they did: " + task.lost_with;
  finished_.push_back({task.spec, Failure{Stage::measure, Cause::crashed, why, {}, {.machine_suspected = true}}});
  tasks_.erase(ticket);
  return true;
}

AgentRunner::Number AgentRunner::first_agent() const {
  if (const auto anchor = calibration_.anchor(); anchor && cluster_->works(*anchor)) return *anchor;
  if (const std::vector<Number> working = cluster_->working(); !working.empty()) return working.front();
  cluster_->throw_missing(
      "no agent is left; the results so far are in the journal, and the same command goes on from there");
}

}  // namespace tune::exec

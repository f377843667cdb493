#include "exec/cluster/agent_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/statistics/stats.h"

namespace tune::exec {
namespace {

// A spec that ran on two agents when they were lost is not tried on a third, and one that was merely there on four.
constexpr int kMostBlame = 4, kBlameOfRunning = 2;

bool in_full(const Trial& trial) { return trial.measurement() && !trial.measurement()->timing.stopped_early; }

}  // namespace

AgentRunner::AgentRunner(Cluster& cluster, const RequestFactory& requests, RunObserver& observer)
    : cluster_(&cluster),
      requests_(&requests),
      artifacts_(cluster),
      nodes_(cluster.agents().size()),
      observer_(&observer) {
  if (const std::vector<Number> working = cluster.working(); working.size() == 1) nodes_[working.front()].factor = 1;
}

int AgentRunner::free_slots() const {
  int room = 0;
  for (Number i = 0; i < nodes_.size(); ++i)
    if (cluster_->works(i))
      room += std::max(cluster_->agents()[i].slots - static_cast<int>(nodes_[i].out.size() + nodes_[i].held.size()), 0);
  return room - static_cast<int>(waiting_.size());
}

void AgentRunner::start(const Spec& spec) {
  const Ticket ticket = ++last_ticket_;
  tasks_[ticket] = {spec, requests_->has_build() ? requests_->build_key(spec) : ""};
  place(ticket);
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
  Task& task = tasks_.at(ticket);
  task.agent = agent;
  nodes_[agent].out.insert(ticket);
  const auto holder = artifacts_.holder(task.key);
  cluster_->send(agent, wire::SpecOrder{ticket, task.spec, holder && *holder != agent});
  artifacts_.note_begun(task.key, agent);
}

std::optional<Trial> AgentRunner::wait(Clock::time_point until) {
  while (finished_.empty()) {
    if (!next(until)) return std::nullopt;
  }
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
  if (const auto* order = std::get_if<wire::ArtifactOrder>(&report)) artifacts_.ask(agent, order->key);
  if (const auto* files = std::get_if<wire::ArtifactFiles>(&report)) artifacts_.pass_on(*files);
  if (const auto* distrust = std::get_if<wire::Distrust>(&report); distrust && distrust_.empty()) {
    distrust_ = distrust->why;
    observer_->distrusts(distrust_);
    stop_sharing();
  }
}

void AgentRunner::take(Number agent, const wire::TrialReport& report) {
  Node& node = nodes_[agent];
  if (node.out.erase(report.ticket) == 0) return;
  std::erase_if(node.runs, [&](const auto& run) { return run.second == report.ticket; });
  const auto found = tasks_.find(report.ticket);
  const Task& task = found->second;
  if (!report.trial.failure()) artifacts_.note_built(task.key, agent);
  Trial trial = report.trial;
  trial.spec = task.spec;
  if (!task.asked) {
    take_calibration(agent, task.spec, trial);
    tasks_.erase(found);
  } else if (node.factor || !trial.measurement()) {
    finish(report.ticket, std::move(trial));
  } else {
    hold(agent, report.ticket, std::move(trial));
  }
  choose_any_anchor();
  place_waiting();
}

void AgentRunner::finish(Ticket ticket, Trial trial) {
  const Node& node = nodes_[*tasks_.at(ticket).agent];
  if (auto* measurement = std::get_if<Measurement>(&trial.outcome); measurement && node.factor)
    scale_times(*measurement, *node.factor);
  finished_.push_back(std::move(trial));
  tasks_.erase(ticket);
}

void AgentRunner::hold(Number agent, Ticket ticket, Trial trial) {
  Node& node = nodes_[agent];
  node.held.emplace(ticket, std::move(trial));
  const auto full = std::ranges::count_if(node.held, [](const auto& held) { return in_full(held.second); });
  if (!anchor_ && full >= wire::kCalibrationSpecs) choose_anchor(agent);
}

// If nothing is left to wait for but the comparison, it begins with what there is.
void AgentRunner::choose_any_anchor() {
  if (anchor_) return;
  std::size_t held = 0;
  std::optional<Number> most;
  const auto full = [&](Number i) {
    return std::ranges::count_if(nodes_[i].held, [](const auto& one) { return in_full(one.second); });
  };
  for (Number i = 0; i < nodes_.size(); ++i) {
    held += nodes_[i].held.size();
    if (!nodes_[i].held.empty() && (!most || full(i) > full(*most))) most = i;
  }
  if (most && held == tasks_.size()) choose_anchor(*most);
}

void AgentRunner::choose_anchor(Number agent) {
  anchor_ = agent;
  for (const auto& [ticket, trial] : nodes_[agent].held)
    if (in_full(trial) && std::ssize(calibrations_) < wire::kCalibrationSpecs)
      calibrations_.push_back({trial.spec, trial.measurement()->timing.median});
  release(agent, 1);
  for (Number other = 0; other < nodes_.size(); ++other) {
    if (nodes_[other].factor || !cluster_->works(other)) continue;
    if (calibrations_.empty()) release(other, 1);  // nothing was timed in full: there is nothing to compare by
    for (const Calibration& calibration : calibrations_) {
      const Ticket ticket = ++last_ticket_;
      tasks_[ticket] = {calibration.spec, requests_->has_build() ? requests_->build_key(calibration.spec) : "", false};
      ++nodes_[other].calibrations_out;
      give(ticket, other);
    }
  }
}

void AgentRunner::take_calibration(Number agent, const Spec& spec, const Trial& trial) {
  Node& node = nodes_[agent];
  --node.calibrations_out;
  const auto calibration =
      std::ranges::find(calibrations_, spec.mesh_idx, [](const Calibration& c) { return c.spec.mesh_idx; });
  if (const Measurement* measurement = trial.measurement())
    node.ratios.push_back(calibration->seconds / measurement->timing.median);
  else if (const Failure* failure = trial.failure())
    node.calibration_failure = fmt::format("spec {}, which {} could time, fails there: {}", spec.mesh_idx,
                                           cluster_->agents()[*anchor_].name, failure->headline());
  if (node.calibrations_out == 0) compare(agent);
}

void AgentRunner::compare(Number agent) {
  Node& node = nodes_[agent];
  if (node.ratios.empty()) return cluster_->give_up(agent, node.calibration_failure);
  release(agent, median(node.ratios));
}

void AgentRunner::release(Number agent, double factor) {
  nodes_[agent].factor = factor;
  for (auto& [ticket, trial] : std::exchange(nodes_[agent].held, {})) finish(ticket, std::move(trial));
  tell_best(agent);
}

void AgentRunner::set_best(const Trial&, double seconds, double joules) {
  best_seconds_ = seconds;
  best_joules_ = joules;
  for (Number agent = 0; agent < nodes_.size(); ++agent) tell_best(agent);
}

void AgentRunner::tell_best(Number agent) {
  if (!nodes_[agent].factor || (best_seconds_ == 0 && best_joules_ == 0)) return;
  cluster_->send(agent, wire::BestOrder{best_seconds_ / *nodes_[agent].factor, best_joules_});
}

Activity AgentRunner::activity() const {
  Activity activity;
  for (const Node& node : nodes_)
    for (const auto& [device, ticket] : node.runs)
      if (const auto task = tasks_.find(ticket); task != tasks_.end())
        activity.measuring.push_back(task->second.spec.mesh_idx);
  return activity;
}

void AgentRunner::stop_sharing() { cluster_->send_all(wire::StopSharing{}); }

void AgentRunner::lose(Number agent, const std::string& why) {
  Node node = std::exchange(nodes_[agent], {});
  artifacts_.lose(agent);
  std::vector<Ticket> again;
  for (const auto& [ticket, trial] : node.held) again.push_back(ticket);
  for (const Ticket ticket : node.out) {
    const bool ran = std::ranges::any_of(node.runs, [&](const auto& run) { return run.second == ticket; });
    if (!tasks_.at(ticket).asked)
      tasks_.erase(ticket);
    else if (!blame(ticket, agent, ran))
      again.push_back(ticket);
  }
  const bool to_others = !again.empty() && cluster_->devices() > 0;
  cluster_->warn(fmt::format("lost agent {}: {}{}", cluster_->agents()[agent].name, why,
                             to_others ? fmt::format("; {} of its specs go to others", again.size()) : ""));
  first_agent();  // throws if it was the last
  for (const Ticket ticket : again) {
    tasks_.at(ticket).agent.reset();
    place(ticket);
  }
  choose_any_anchor();
}

// Returns whether the spec is given up for it.
bool AgentRunner::blame(Ticket ticket, Number agent, bool ran) {
  Task& task = tasks_.at(ticket);
  task.blame += ran ? kBlameOfRunning : 1;
  task.lost_with += (task.lost_with.empty() ? "" : ", ") + cluster_->agents()[agent].name;
  if (task.blame < kMostBlame) return false;
  Trial trial{task.spec, Failure{Stage::measure,
                                 Cause::crashed,
                                 "the agents that had it were lost while they did: " + task.lost_with,
                                 {},
                                 {.machine_suspected = true}}};
  finished_.push_back(std::move(trial));
  tasks_.erase(ticket);
  return true;
}

AgentRunner::Number AgentRunner::first_agent() const {
  if (anchor_ && cluster_->works(*anchor_)) return *anchor_;
  for (Number agent = 0; agent < nodes_.size(); ++agent)
    if (cluster_->works(agent)) return agent;
  cluster_->throw_missing(
      "no agent is left; the results so far are in the journal, and the same command goes on from there");
}

}  // namespace tune::exec

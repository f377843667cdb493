#include "exec/cluster/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "exec/cluster/cluster_executor.h"
#include "exec/device/devices.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"

namespace tune::exec {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 50ms;  // so often signals and the ends of starters are looked for
constexpr auto kEndOfAgents = 5s;
constexpr double kPreparingSeconds = 120;
constexpr double kMostSilences = 6;  // an agent that hangs ends itself after three
constexpr std::size_t kMostRefused = 10;

std::string random_token() {
  std::ifstream random("/dev/urandom", std::ios::binary);
  std::string token;
  for (int i = 0; i < 16; ++i) token += fmt::format("{:02x}", random.get() & 0xff);
  if (!random) throw Error(ExitCode::environment, "cannot read /dev/urandom, from which the token of agents is made");
  return token;
}

// Takes the same time wherever the texts begin to differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace

Cluster::Cluster(ClusterRules rules) : rules_(std::move(rules)) {}

Cluster::~Cluster() {
  if (!starters_) return;
  std::set<std::string> steps;
  for (const Agent& agent : agents_)
    if (!agent.step.empty()) steps.insert(agent.step);
  try {
    send_to_living(wire::Farewell{});
    starters_->end(agents_.empty() ? 0s : kEndOfAgents, steps);
  } catch (const std::exception&) {  // what is left is killed
  }
}

void Cluster::say(const std::string& text) const {
  if (rules_.say) rules_.say(text, false);
}

void Cluster::warn(const std::string& text) const {
  if (rules_.say) rules_.say("warning: " + text, true);
}

void Cluster::start() {
  if (failed_) throw *failed_;
  if (starters_) return;
  try {
    start_agents();
  } catch (const Error& error) {
    throw failed_.emplace(error);
  }
}

void Cluster::start_agents() {
  const std::string host = rules_.host.empty() ? platform::FrameHub::address_for_others() : rules_.host;
  auto hub = std::make_unique<platform::FrameHub>(std::chrono::duration<double>(rules_.silence_seconds));
  const std::uint16_t port = hub->listen(host, rules_.port);
  const AgentLaunch launch = launch_of(rules_.launcher, rules_.program, host, port);
  token_ = random_token();
  hub_ = std::move(hub);
  starters_ = std::make_unique<AgentStarters>(launch, token_);
  await_agents(launch.agents);
}

void Cluster::await_agents(int count) {
  const auto end = Clock::now() + platform::ticks(rules_.start_seconds);
  while (std::ssize(agents_) < count) {
    if (const auto event = wait(std::min(end, Clock::now() + kLook)))
      if (const auto* lost = std::get_if<Lost>(&*event))
        throw_missing(fmt::format("lost agent {} before all had started: {}", agents_[lost->agent].name, lost->why));
    if (starters_->any_failed()) throw_missing("agents did not start");
    if (Clock::now() >= end)
      throw_missing(fmt::format("{} of {} agents did not start: they had {:g} s to connect (--agents-within)",
                                count - std::ssize(agents_), count, rules_.start_seconds));
  }
  complete_ = true;
  for (Agent& agent : agents_) agent.heard = Clock::now();
  longest_idle_ = idle_limit(kPreparingSeconds);
  say(names_of(working()));
}

Cluster::Clock::duration Cluster::idle_limit(double step_seconds) const {
  return platform::ticks(step_seconds + kMostSilences * rules_.silence_seconds);
}

/// `3 agents: n1 (process 7), n2 (process 8), n3 (process 9)`
std::string Cluster::names_of(std::span<const Number> agents) const {
  std::vector<std::string> names;
  for (const Number agent : agents) names.push_back(agents_[agent].name);
  std::ranges::sort(names);
  constexpr std::size_t kNamed = 8;
  const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return fmt::format("{}: {}{}", plural(agents.size(), "agent"), fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void Cluster::throw_missing(std::string text) const {
  for (const std::string& refused : refused_) text += "\n" + refused;
  throw Error(ExitCode::environment, text + starters_->account());
}

// Devices and compilers must be the same everywhere, because results are compared, and what one builds others run.
void Cluster::require_alike(const std::map<Number, wire::Probed>& probed) const {
  const auto& [first_agent, first_answer] = *probed.begin();
  const wire::Hello& first = first_answer.hello;
  for (const auto& [agent, answer] : probed) {
    const wire::Hello& other = answer.hello;
    const std::string first_name = agents_[first_agent].name, name = agents_[agent].name;
    const auto differ = [&](const char* what, const std::string& a, const std::string& b, const char* otherwise = "") {
      if (a != b)
        throw Error(ExitCode::bad_input,
                    fmt::format("the machines differ, and their times cannot be compared: the {} of {} is {}, and that "
                                "of {} is {}; tune on machines that are alike{}",
                                what, first_name, a, name, b, otherwise));
    };
    differ("device", first.device.name, other.device.name, ", or on each model by itself with --per-device-model");
    differ("architecture", first.device.arch, other.device.arch);
    differ("driver", first.device.driver, other.device.driver);
    differ("compiler", first.compiler, other.compiler);
  }
}

// The next report, if one comes soon. An agent that is lost instead is no longer awaited.
std::optional<Cluster::Report> Cluster::next_report(std::vector<Number>& awaited) {
  auto event = wait(Clock::now() + kLook);
  if (event && std::holds_alternative<Report>(*event)) return std::get<Report>(std::move(*event));
  if (!event) return std::nullopt;
  const auto& [agent, why] = std::get<Lost>(*event);
  std::erase(awaited, agent);
  warn(fmt::format("lost agent {}: {}", agents_[agent].name, why));
  return std::nullopt;
}

// All that work must answer, unless they are lost.
std::map<Cluster::Number, wire::Probed> Cluster::ask_all(const wire::ProbeOrder& order) {
  send_all(order);
  std::map<Number, wire::Probed> answers;
  for (std::vector<Number> awaited = working(); !awaited.empty();) {
    const auto report = next_report(awaited);
    if (!report || std::ranges::find(awaited, report->agent) == awaited.end()) continue;
    if (const auto* unable = std::get_if<wire::Unable>(&report->report))
      throw Error(static_cast<ExitCode>(unable->code), agents_[report->agent].name + ": " + unable->why);
    // It may be the answer to an earlier question.
    const auto* answer = std::get_if<wire::Probed>(&report->report);
    if (answer == nullptr || answer->hello.backend != order.backend) continue;
    answers[report->agent] = *answer;
    std::erase(awaited, report->agent);
  }
  std::erase_if(answers, [&](const auto& answer) { return !works(answer.first); });
  if (answers.empty()) throw_missing("no agent is left; the warnings above say why");
  return answers;
}

std::vector<std::string> Cluster::models(Backend backend) {
  start();
  model_.clear();
  std::vector<std::string> models;
  for (auto& [agent, answer] : ask_all({backend, std::nullopt})) {
    agents_[agent].models = models_of(answer.hello);
    for (const std::string& model : agents_[agent].models)
      if (std::ranges::find(models, model) == models.end()) models.push_back(model);
  }
  return models;
}

void Cluster::choose_model(Backend backend, const std::string& model) {
  send_all(wire::Rest{});
  longest_idle_ = idle_limit(kPreparingSeconds);
  model_ = model;
  rules_.devices = model;
  hellos_.erase(backend);
  if (working().empty())
    throw_missing("no agent is left that has " + model +
                  "; the results so far are in the journal, and the same command goes on from there");
  say(model + ": " + names_of(working()));
}

const wire::Hello& Cluster::probe(Backend backend) {
  start();
  if (const auto found = hellos_.find(backend); found != hellos_.end()) return found->second;
  if (rules_.per_model && model_.empty()) {
    model_ = models(backend).front();
    rules_.devices = model_;
  }
  const std::map<Number, wire::Probed> probed = ask_all({backend, rules_.devices});
  require_alike(probed);
  for (const auto& [agent, answer] : probed) agents_[agent].devices = answer.devices;
  return hellos_[backend] = probed.begin()->second.hello;
}

void Cluster::prepare(const AgentPlan& plan) {
  start();
  longest_idle_.reset();
  if (!plan.may_wait) longest_idle_ = idle_limit(kPreparingSeconds);
  for (const wire::InputFile& file : plan.files)
    if (sent_files_.insert(file.hash).second) send_to_living(file);
  send_all(plan.order);
  for (std::vector<Number> awaited = working(); !awaited.empty();)
    if (const auto report = next_report(awaited); report && take_readiness(*report, plan))
      std::erase(awaited, report->agent);
  if (devices() == 0) throw_missing("no agent is left; the warnings above say why");
  longest_idle_ = idle_limit(rules_.step_seconds);
}

// Returns whether the agent is ready. What is wrong with the tuning file is so for all; a full disk is not.
bool Cluster::take_readiness(const Report& report, const AgentPlan& plan) {
  const std::string& name = agents_[report.agent].name;
  if (const auto* unable = std::get_if<wire::Unable>(&report.report)) {
    const auto code = static_cast<ExitCode>(unable->code);
    if (code != ExitCode::environment) throw Error(code, name + ": " + unable->why);
    give_up(report.agent, unable->why);
  }
  const auto* ready = std::get_if<wire::Ready>(&report.report);
  if (ready == nullptr) return false;
  if (!plan.source_hash.empty() && ready->source_hash != plan.source_hash)
    throw Error(ExitCode::environment,
                name +
                    ": the source includes other headers there than here; put those that are not beside the source "
                    "into folders of build.include, which agents get, or install the same versions everywhere");
  agents_[report.agent].slots = ready->slots;
  return true;
}

bool Cluster::works(Number agent) const {
  const Agent& its = agents_[agent];
  return its.lives && (model_.empty() || std::ranges::find(its.models, model_) != its.models.end());
}

std::vector<Cluster::Number> Cluster::working() const {
  std::vector<Number> working;
  for (Number agent = 0; agent < agents_.size(); ++agent)
    if (works(agent)) working.push_back(agent);
  return working;
}

int Cluster::devices() const {
  int sum = 0;
  for (const Number agent : working()) sum += agents_[agent].devices;
  return sum;
}

std::unique_ptr<Executor> Cluster::executor(const RequestFactory& requests, const AgentPlan& plan,
                                            platform::StorePlaces store, RunObserver& observer) {
  return cluster_executor(*this, requests, plan, std::move(store), observer);
}

void Cluster::send(Number agent, const wire::AgentOrder& order) {
  if (agents_[agent].lives) hub_->send(agents_[agent].link, wire::encode_order(order));
}

void Cluster::send_all(const wire::AgentOrder& order) {
  const platform::FrameHub::Frame frame = platform::FrameHub::frame(wire::encode_order(order));
  for (const Number agent : working()) hub_->send(agents_[agent].link, frame);
}

void Cluster::send_to_living(const wire::AgentOrder& order) {
  const platform::FrameHub::Frame frame = platform::FrameHub::frame(wire::encode_order(order));
  for (const Agent& agent : agents_)
    if (agent.lives) hub_->send(agent.link, frame);
}

void Cluster::give_up(Number agent, const std::string& why) {
  if (!std::exchange(agents_[agent].lives, false)) return;
  hub_->send(agents_[agent].link, wire::encode_order(wire::Farewell{}));
  lost_.push_back({agent, line_with_escapes(why)});
}

std::optional<Cluster::Event> Cluster::wait(Clock::time_point until) {
  for (;;) {
    if (!lost_.empty()) {
      Lost lost = std::move(lost_.front());
      lost_.erase(lost_.begin());
      return lost;
    }
    const auto now = Clock::now();
    if (now - looked_ >= kLook) {
      looked_ = now;
      starters_->look();
    }
    if (auto event = hub_->wait(std::min(until, now + kLook))) {
      if (auto report = understand(std::move(*event))) return std::move(*report);
    } else {
      give_up_idle(now);
    }
    if (lost_.empty() && now >= until) return std::nullopt;  // whatever strangers send
  }
}

// All that they have said is known.
void Cluster::give_up_idle(Clock::time_point now) {
  if (!longest_idle_) return;
  for (Number agent = 0; agent < agents_.size(); ++agent)
    if (agents_[agent].lives && now - agents_[agent].heard > *longest_idle_)
      give_up(agent, fmt::format("its connection lives, but it has said nothing for {:.3g} s",
                                 std::chrono::duration<double>(*longest_idle_).count()));
}

std::optional<Cluster::Report> Cluster::understand(platform::FrameHub::Event event) {
  if (const auto* opened = std::get_if<platform::FrameHub::Opened>(&event)) strangers_[opened->id] = opened->peer;
  if (const auto* closed = std::get_if<platform::FrameHub::Closed>(&event)) {
    strangers_.erase(closed->id);
    if (const auto found = by_link_.find(closed->id); found != by_link_.end()) give_up(found->second, closed->why);
  }
  if (const auto* arrived = std::get_if<platform::FrameHub::Arrived>(&event)) {
    if (!strangers_.contains(arrived->id)) return take(arrived->id, arrived->text);
    admit(arrived->id, arrived->text);
  }
  return std::nullopt;
}

std::optional<Cluster::Report> Cluster::take(platform::FrameHub::Id link, const std::string& text) {
  const auto found = by_link_.find(link);
  if (found == by_link_.end() || !agents_[found->second].lives) return std::nullopt;
  const Number agent = found->second;
  agents_[agent].heard = Clock::now();
  try {
    wire::AgentReport report = wire::decode_report(text);
    if (const auto* said = std::get_if<wire::Said>(&report)) {
      say(agents_[agent].name + ": " + said->text);
      return std::nullopt;
    }
    return Report{agent, std::move(report)};
  } catch (const wire::Malformed& error) {
    give_up(agent, std::string("it sent a message that cannot be understood: ") + error.what());
    return std::nullopt;
  }
}

std::string Cluster::why_refused(const wire::AgentHello& hello) const {
  if (!same_secret(hello.token, wire::halves_of(token_).agents)) return "it does not have the token of this run";
  if (hello.protocol != wire::kAgentProtocol || hello.records != wire::kProtocol)
    return fmt::format(
        "it is another version of tune (its protocol is {}.{}, ours {}.{}); install the same on all "
        "machines",
        hello.protocol, hello.records, wire::kAgentProtocol, wire::kProtocol);
  if (complete_) return fmt::format("it is late: this run has had its {} agents (--agents)", agents_.size());
  return {};
}

void Cluster::admit(platform::FrameHub::Id link, const std::string& text) {
  const std::string peer = strangers_.extract(link).mapped();
  std::string why, name = peer;
  try {
    const wire::AgentReport report = wire::decode_report(text);
    const auto& hello = std::get<wire::AgentHello>(report);
    why = why_refused(hello);
    name = fmt::format("{} (process {})", line_with_escapes(hello.host), hello.process);
    if (why.empty()) {
      by_link_[link] = agents_.size();
      agents_.push_back({.link = link, .name = name, .step = hello.step});
      hub_->trust(link);
      hub_->send(link, wire::encode_order(wire::Welcome{rules_.silence_seconds, wire::halves_of(token_).drivers}));
      return;
    }
  } catch (const std::exception&) {
    why = "it is no agent of tune";
  }
  hub_->send(link, wire::encode_order(wire::Unwelcome{why}));  // it leaves by itself, or is given up as a stranger
  refuse(fmt::format("refused {}: {}", name, why));
}

void Cluster::refuse(const std::string& text) {
  if (refused_.size() > kMostRefused) return;
  refused_.push_back(refused_.size() < kMostRefused ? text : "refused more, which are not listed");
  warn(refused_.back());
}

}  // namespace tune::exec

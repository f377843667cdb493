#include "exec/cluster/agent_starters.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/process/runner.h"
#include "wire/agents/agent_messages.h"

namespace tune::exec {
namespace {

using namespace std::chrono_literals;
using Clock = platform::ProcessHost::Clock;

constexpr auto kShortestWait = 1ms;  // a wait of no time finds nothing
constexpr auto kPause = 10ms;
constexpr auto kEndByForce = 2s;
constexpr std::size_t kShownOutput = 2000;

void keep_end(std::string& text, const std::string& more) {
  text += more;
  if (text.size() > kShownOutput) text.erase(0, text.size() - kShownOutput);
}

// ssh ends its lines as a terminal needs them.
std::string as_lines(std::string text) {
  std::erase(text, '\r');
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

AgentStarters::AgentStarters(const AgentLaunch& launch, const std::string& token) {
  for (const Starter& starter : launch.starters) {
    platform::Command command;
    command.argv = starter.argv;
    command.environment = {{wire::kTokenVariable, token}};
    command.capture_limit = kShownOutput;
    started_.push_back({processes_.start(command), starter.name});
    processes_.send(started_.back().id, token);
  }
}

void AgentStarters::look() {
  while (const auto event = processes_.wait(Clock::now() + kShortestWait)) take(*event);
  if (signal_) throw Interrupted{*std::exchange(signal_, {})};
}

void AgentStarters::take(const platform::ProcessHost::Event& event) {
  if (const auto* interrupted = std::get_if<platform::ProcessHost::Interrupted>(&event)) signal_ = interrupted->signal;
  const auto* line = std::get_if<platform::ProcessHost::Line>(&event);
  const auto* ended = std::get_if<platform::ProcessHost::Ended>(&event);
  for (Started& starter : started_) {
    if (line != nullptr && line->id == starter.id) keep_end(starter.said, line->text + "\n");
    if (ended == nullptr || ended->id != starter.id) continue;
    starter.exit = ended->exit;
    keep_end(starter.said, ended->captured);
  }
}

bool AgentStarters::any_failed() const {
  return std::ranges::any_of(started_, [](const Started& starter) { return starter.exit && !starter.exit->clean(); });
}

std::string AgentStarters::account() {
  std::set<platform::ProcessHost::Id> running;
  for (const Started& starter : started_)
    if (!starter.exit) running.insert(starter.id);
  ask_to_end();
  look();
  std::string text;
  for (const Started& starter : started_) {
    const bool ran = running.contains(starter.id);
    if (ran && starter.said.empty()) continue;
    text += fmt::format("\n{} {}{}", starter.name, ran ? "still ran" : "ended with " + platform::to_text(*starter.exit),
                        starter.said.empty() ? "" : " and said: " + as_lines(starter.said));
  }
  return text;
}

void AgentStarters::ask_to_end() {
  for (const Started& starter : started_)
    if (!starter.exit) processes_.ask_to_end(starter.id);
  end_within(kEndByForce);
}

void AgentStarters::end(std::chrono::milliseconds patience, const std::set<std::string>& steps) {
  if (end_within(patience)) return;
  for (const std::string& step : steps) {
    platform::Command scancel;
    scancel.argv = {"scancel", step};
    processes_.set_deadline(processes_.start(scancel), kEndByForce);
  }
  if (!steps.empty() && end_within(kEndByForce)) return;
  ask_to_end();
}

// Signals are not heeded: this is the end already.
bool AgentStarters::end_within(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  const auto all_ended = [&] {
    return std::ranges::all_of(started_, [](const Started& starter) { return starter.exit.has_value(); });
  };
  while (!all_ended() && Clock::now() < end)
    if (const auto event = processes_.wait(Clock::now() + kPause)) take(*event);
  return all_ended();
}

}  // namespace tune::exec

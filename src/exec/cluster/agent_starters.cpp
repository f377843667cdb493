#include "exec/cluster/agent_starters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "exec/process/runner.h"
#include "wire/agents/agent_messages.h"

namespace tune::exec {
namespace {

constexpr const char* kAgent = "{agent}";
constexpr const char* kHost = "{host}";

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number_in(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A job may have lost nodes since it began, which its environment does not tell.
int nodes_of_allocation() try {
  const std::string job = variable("SLURM_JOB_ID");
  if (job.empty())
    throw Error(ExitCode::bad_input,
                "--launcher slurm: this is no allocation of Slurm (SLURM_JOB_ID is not set); run the same command in a "
                "batch script (sbatch) or in a shell of salloc");
  platform::Command squeue;
  squeue.argv = {"squeue", "--noheader", "--jobs=" + job, "--format=%D"};
  const platform::Finished told = platform::run(squeue);
  const int nodes = number_in(told.output);
  if (nodes < 1)
    throw Error(ExitCode::environment, fmt::format("--launcher slurm: Slurm does not know job {} as a running one{}{}",
                                                   job, told.captured.empty() ? "" : ": ", told.captured));
  return nodes;
} catch (const platform::NoProgram& error) {
  throw Error(ExitCode::environment, std::string("--launcher slurm: ") + error.what());
}

// One step for all nodes. The node's processors and memory are the agent's to share out. SLURM_JOB_NODELIST may have
// fewer nodes, if this runs within a step, or some that the job has lost.
AgentLaunch by_slurm(const std::vector<std::string>& agent) {
  const int nodes = nodes_of_allocation();
  Starter srun{{"env", "--unset=SLURM_JOB_NODELIST", "srun", fmt::format("--nodes={}", nodes),
                fmt::format("--ntasks={}", nodes), "--ntasks-per-node=1", "--overlap", "--no-kill", "--mem=0",
                "--cpu-bind=none", "--kill-on-bad-exit=0", "--wait=0", "--input=none", "--unbuffered", "--export=ALL"},
               "srun"};
  srun.argv.insert(srun.argv.end(), agent.begin(), agent.end());
  return {{std::move(srun)}, nodes};
}

AgentLaunch by_ssh(const std::vector<std::string>& hosts, const std::string& agent) {
  if (hosts.empty())
    throw Error(ExitCode::bad_input, "--launcher ssh needs the machines: --hosts node1,node2 (names that ssh takes)");
  AgentLaunch launch{{}, static_cast<int>(hosts.size())};
  for (const std::string& host : hosts)
    launch.starters.push_back(
        {{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", host, "exec " + agent}, "ssh " + host});
  return launch;
}

AgentLaunch by_command(const LauncherSettings& settings, const std::string& agent) {
  if (settings.launcher.find(kAgent) == std::string::npos)
    throw Error(ExitCode::bad_input,
                fmt::format("--launcher '{}' starts no agent; write slurm, ssh, or a command with {} in the place of "
                            "the agent's command, such as 'mpirun -x TUNE_AGENT_TOKEN -n 4 {}'",
                            settings.launcher, kAgent, kAgent));
  const bool per_host = settings.launcher.find(kHost) != std::string::npos;
  if (per_host == settings.hosts.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("--launcher '{}': {}", settings.launcher,
                            per_host ? "{host} needs the machines: --hosts node1,node2"
                                     : "--hosts needs {host} in the command, which is run once for each"));
  AgentLaunch launch{{}, settings.agents > 0 ? settings.agents : std::max(1, static_cast<int>(settings.hosts.size()))};
  for (const std::string& host : per_host ? settings.hosts : std::vector<std::string>{""}) {
    std::string command = settings.launcher;
    replace_all(command, kAgent, agent);
    replace_all(command, kHost, host);
    // The shell waits for what cleans up after SIGTERM; with its end all of its group is killed.
    launch.starters.push_back(
        {{"/bin/sh", "-c", "trap exit TERM\n" + command}, per_host ? "the launcher for " + host : "the launcher"});
  }
  return launch;
}

using namespace std::chrono_literals;
using Clock = platform::ProcessHost::Clock;

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

AgentLaunch launch_of(const LauncherSettings& settings, const std::string& program, const std::string& host,
                      std::uint16_t port) {
  const std::vector<std::string> agent = {program, "agent", "--connect", fmt::format("{}:{}", host, port)};
  std::string text;
  for (const std::string& word : agent) text += (text.empty() ? "" : " ") + shell_quote(word);
  const bool by_name = settings.launcher == "slurm" || settings.launcher == "ssh";
  if (by_name && settings.agents > 0)
    throw Error(ExitCode::bad_input,
                "--agents is for a --launcher command; " + settings.launcher + " starts one agent on each machine");
  if (settings.launcher == "slurm" && !settings.hosts.empty())
    throw Error(ExitCode::bad_input, "--hosts is for ssh; with Slurm the allocation says which nodes there are");
  if (settings.launcher == "slurm") return by_slurm(agent);
  if (settings.launcher == "ssh") return by_ssh(settings.hosts, text);
  return by_command(settings, text);
}

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
  while (const auto event = processes_.wait(Clock::now())) take(*event);
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

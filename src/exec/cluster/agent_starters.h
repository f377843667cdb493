#pragma once
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/process/process.h"

namespace tune::exec {

/// How agents are started. The token is no part of it: starters get it in their environment and on their stdin, because
/// every user of a machine sees the words of a command.
struct LauncherSettings {
  std::string launcher;            ///< slurm, ssh, or a command in which {agent} is the agent's command
  std::vector<std::string> hosts;  ///< of ssh, and of a command with {host}
  int agents = 0;                  ///< that the command starts; 0: one, and with Slurm one per node
};

/// A process that starts one agent or several, and stays as long as they do, or not.
struct Starter {
  std::vector<std::string> argv;
  std::string name;  ///< for messages: `srun`, `ssh node7`
};

struct AgentLaunch {
  std::vector<Starter> starters;
  int agents = 0;  ///< that are to connect
};

/// What starts agents, by this file of `tune`, that connect to this address. Throws Error(bad_input): no allocation, no
/// hosts, no {agent}.
AgentLaunch launch_of(const LauncherSettings& settings, const std::string& program, const std::string& host,
                      std::uint16_t port);

/// The processes that start agents: srun, ssh, a command. What they print is kept for a person, in case they fail.
class AgentStarters {
 public:
  /// Starts them. Throws what platform::Processes::start throws.
  AgentStarters(const AgentLaunch& launch, const std::string& token);

  /// Takes what they printed, and how they ended. Throws Interrupted.
  void look();
  /// Whether one has ended as it should not.
  bool any_failed() const;
  /// A line for each that has ended or printed something. Those that still run are asked to end: only then is all that
  /// they printed known. Throws Interrupted: a job that is cancelled ends them and this process at once.
  std::string account();
  /// Waits for them to end, as they do with their agents; then cancels these steps of Slurm, then asks them to end.
  /// What is left is killed with this object.
  void end(std::chrono::milliseconds patience, const std::set<std::string>& steps);

 private:
  struct Started {
    platform::ProcessHost::Id id;
    std::string name;
    std::optional<platform::Exit> exit = {};
    std::string said = {};  ///< the end of its output
  };

  void ask_to_end();
  bool end_within(std::chrono::milliseconds limit);
  void take(const platform::ProcessHost::Event& event);

  platform::Processes processes_{true};
  std::vector<Started> started_;
  std::optional<int> signal_;  ///< that this process got
};

}  // namespace tune::exec

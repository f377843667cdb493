#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tune::exec {

/// How agents are started. The token is no part of it: starters get it in their environment and on their stdin, because
/// every user of a machine sees the words of a command.
struct LauncherRules {
  std::string launcher;            ///< slurm, ssh, or a command in which {agent} is the agent's command
  std::vector<std::string> hosts;  ///< of ssh, and of a command with {host}
  int agents = 0;                  ///< that the command starts; 0: one, and with Slurm one per node
  std::string program;             ///< the file of `tune` on the other machines
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

/// What starts agents that connect to this address. Throws Error(bad_input): no allocation, no hosts, no {agent}.
AgentLaunch launch_of(const LauncherRules& rules, const std::string& host, std::uint16_t port);

}  // namespace tune::exec

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/net/page_server.h"

// What a run on several machines is told, and what its agents are.

namespace CLI {
class App;
}

namespace tune {

struct Options;

/// How a run starts agents on other machines, and what it does if they are silent.
struct ClusterOptions {
  std::optional<std::string> launcher;  ///< slurm, ssh, or a command; unset: the run is on this machine
  std::vector<std::string> hosts;
  int agents = 0;                               ///< that a command starts; 0: not said
  std::optional<platform::PageAddress> listen;  ///< an empty host, and port 0: not said
  double agents_within = 60;                    ///< seconds in which agents must connect
  double agent_timeout = 10;                    ///< seconds of silence after which an agent is lost
};

/// `tune agent`.
struct AgentOptions {
  platform::PageAddress driver;
};

/// Adds the options of a run.
void add_several_machines(CLI::App& app, ClusterOptions& cluster);
/// Adds the command. `agent` must outlive the parsing.
void add_agent(CLI::App& app, AgentOptions& agent);
/// Throws Error(bad_input) for options of clusters that exclude others.
void refuse_cluster_conflicts(const Options& options);

}  // namespace tune

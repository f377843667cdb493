#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/cluster/cluster.h"

namespace tune::exec {

/// Which agent has which artifact, and the way of artifacts from one agent to another, through the driver.
class ArtifactRelay {
 public:
  using Number = Cluster::Number;

  /// `cluster` must outlive this.
  explicit ArtifactRelay(Cluster& cluster) : cluster_(&cluster) {}

  /// The agent that has the artifact of a build; nullopt if none is known to.
  std::optional<Number> holder(const std::string& key) const;
  /// The agent that has it, or was the first to be told to build it.
  std::optional<Number> builder(const std::string& key) const;
  void note_begun(const std::string& key, Number agent);
  void note_built(const std::string& key, Number agent);

  /// An agent asks for it.
  void ask(Number agent, const std::string& key);
  /// It has come from an agent.
  void pass_on(const wire::ArtifactFiles& files);
  /// Whoever waits for something is told that it does not come.
  void lose(Number agent);

 private:
  struct Built {
    Number agent;
    bool done = false;
  };

  Cluster* cluster_;
  std::unordered_map<std::string, Built> built_;
  std::map<std::string, std::vector<Number>> wanted_;  ///< artifacts that are on their way, and for whom
};

}  // namespace tune::exec

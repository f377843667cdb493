#include "exec/cluster/artifact_relay.h"

namespace tune::exec {

std::optional<ArtifactRelay::Number> ArtifactRelay::holder(const std::string& key) const {
  const auto found = built_.find(key);
  return found == built_.end() || !found->second.done ? std::nullopt : std::optional(found->second.agent);
}

std::optional<ArtifactRelay::Number> ArtifactRelay::builder(const std::string& key) const {
  const auto found = built_.find(key);
  return found == built_.end() ? std::nullopt : std::optional(found->second.agent);
}

void ArtifactRelay::note_begun(const std::string& key, Number agent) {
  if (!key.empty()) built_.try_emplace(key, Built{agent});
}

void ArtifactRelay::note_built(const std::string& key, Number agent) {
  if (!key.empty()) built_[key] = {agent, true};
}

void ArtifactRelay::ask(Number agent, const std::string& key) {
  const auto from = holder(key);
  if (!from || *from == agent) return cluster_->send(agent, wire::ArtifactFiles{key, {}});
  std::vector<Number>& who = wanted_[key];
  who.push_back(agent);
  if (who.size() == 1) cluster_->send(*from, wire::ArtifactOrder{key});
}

void ArtifactRelay::pass_on(const wire::ArtifactFiles& files) {
  const auto found = wanted_.find(files.key);
  if (found == wanted_.end()) return;
  for (const Number agent : found->second) cluster_->send(agent, files);
  wanted_.erase(found);
}

void ArtifactRelay::lose(Number agent) {
  std::erase_if(built_, [&](const auto& built) { return built.second.agent == agent; });
  for (const auto& [key, who] : wanted_)
    for (const Number one : who) cluster_->send(one, wire::ArtifactFiles{key, {}});
  wanted_.clear();
}

}  // namespace tune::exec

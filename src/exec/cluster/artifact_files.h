#pragma once

#include "exec/build/builder.h"
#include "platform/store/store.h"
#include "wire/agents/agent_messages.h"

/// Entries of a build store as messages, by which what one machine built comes to others.
namespace tune::exec {

/// The files of an entry; none if there is no such artifact.
wire::ArtifactFiles pack(const std::string& key, const Artifact* artifact);
/// Makes them an entry of the store, unless there are none, or they are not what they should be. Throws
/// Error(environment) if the store cannot be written.
void unpack(const wire::ArtifactFiles& files, const platform::Store& store);

}  // namespace tune::exec

#pragma once
#include <array>
#include <string>

namespace tune::worker {

/// The identifier of a GPU, as its driver reports it.
using Uuid = std::array<unsigned char, 16>;

/// The identifier as vendors' tools write it: a prefix such as GPU, then 8-4-4-4-12 digits, separated by `-`.
std::string uuid_text(const std::string& prefix, const Uuid& uuid);

}  // namespace tune::worker

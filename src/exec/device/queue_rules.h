#pragma once
#include <cstdint>

#include "exec/device/device_queue.h"
#include "exec/request/request_factory.h"

namespace tune::exec {

/// How many processes load at a time.
int opening_at_once(Backend backend);

/// How many processes a device has at a time, and what they may do at the same time. `sharing`: they measure one spec
/// after the other; `workspace_bytes`: the most that a spec has.
DeviceQueue::Rules queue_rules(const RequestFactory& requests, const ChosenDevice& device, bool sharing,
                               std::int64_t workspace_bytes);

}  // namespace tune::exec

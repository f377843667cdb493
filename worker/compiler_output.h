#pragma once
#include <string_view>

#include "base/process.h"
#include "model/trial.h"

namespace tune::worker {

/// What a failed build tells beside its messages for people. Compilers are programs of their own, which say only in
/// their output that the system killed a part of them or that there was no room to write: they end with exit code 1 all
/// the same. This is the one place that knows their words, which LC_ALL=C keeps in English where we start them.
FailureFacts facts_of_build(const base::Exit& exit, std::string_view output);

/// ENOSPC or EDQUOT if a compiler could not write; else 0.
int room_error_of_build(std::string_view output);

}  // namespace tune::worker

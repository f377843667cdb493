#pragma once
#include <string_view>

#include "base/process.h"
#include "model/trial.h"

namespace tune::worker {

/// What a failed build tells in addition to its messages for people. Compilers are programs of their own. They say only
/// in their output that the system killed a part of them or that there was no room to write, and end with exit code 1
/// anyway. Only this function knows their words, which are English because we start them with LC_ALL=C.
FailureFacts facts_of_build(const base::Exit& exit, std::string_view output);

/// ENOSPC or EDQUOT if a compiler could not write; else 0.
int room_error_of_build(std::string_view output);

}  // namespace tune::worker

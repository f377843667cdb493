#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "wire/messages.h"

namespace tune::worker {

/// The name of the function that makes launch number `index`.
std::string shim_symbol(std::size_t index);

/// C++ source that includes the kernel's file and calls each launch's kernel from an array of pointers: a buffer's
/// address, or the address of a scalar. Compiled as one with the kernel, so that the compiler checks the arguments
/// against the kernel's parameters. Throws SpecFailure for arguments that the CPU has not.
std::string shim_source(const wire::BuildRequest& request);
/// Why a launch's arguments do not fit the kernel's parameters, from what the compiler says of the shim: a line, and
/// below it both lists. nullopt: that is not its first error, of which this one may be a consequence.
std::optional<std::string> explain_misfit(const wire::BuildRequest& request, std::string_view output);

}  // namespace tune::worker

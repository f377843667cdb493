#pragma once
#include <string>

#include "wire/messages.h"

namespace tune::worker {

/// First line of `$CXX --version` (c++ if CXX is not set); empty if there is no compiler.
std::string cpp_compiler_version();

/// Compiles kernel and shim into `kernel.so` in the request's folder with $CXX, which stays in our process group.
/// Flags are `-std=c++20 -O3 -march=native`, then the request's. Properties: `code`, bytes of machine code, and
/// `stack`, bytes of the largest frame. Throws SpecFailure; for `no compiler: ...` the kernel is not to blame.
wire::Built build_shared_object(const wire::BuildRequest& request);

}  // namespace tune::worker

#pragma once
#include <string>
#include <vector>

/// hipRTC's functions, done by a compiler in a process of its own: what HIPCXX names, such as hipcc or a newer clang,
/// for architectures that hipRTC does not know. gpu::chosen_library() returns them.
namespace tune::gpu {

/// The words of HIPCXX: a program and options of it. Empty: hipRTC compiles.
std::vector<std::string> chosen_compiler();
/// What it says of its version, hipcc also of its clang's, in one line, and the options: all make other code. Throws
/// std::runtime_error if it does not say.
std::string version_of_chosen_compiler();

}  // namespace tune::gpu

#include "compiler_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tune::worker {
namespace {

// GCC's compiler proper, the linker below GCC, and a part of Clang.
constexpr std::array<std::string_view, 3> kKilledPart = {
    "fatal error: Killed signal terminated program ",
    " terminated with signal 9 [Killed]",
    "error: unable to execute command: Killed",
};
constexpr std::array<std::pair<std::string_view, int>, 2> kNoRoom = {
    {{"No space left on device", ENOSPC}, {"Disk quota exceeded", EDQUOT}}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

FailureFacts facts_of_build(const base::Exit& exit, std::string_view output) {
  FailureFacts facts = facts_of_end(exit.code, exit.signal);
  if (std::ranges::any_of(kKilledPart, [&](std::string_view words) { return contains(output, words); }))
    facts.machine_suspected = true;
  return facts;
}

int room_error_of_build(std::string_view output) {
  for (const auto& [words, error] : kNoRoom)
    if (contains(output, words)) return error;
  return 0;
}

}  // namespace tune::worker

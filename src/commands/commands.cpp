#include "commands/commands.h"

namespace tune::commands {

// What a user can ask for: a file or folder each, which ends with this.
extern const cli::CommandSpec kTune, kInit, kConvert, kDiff, kListShapes, kReport, kMerge, kLookup, kCover, kExport,
    kPackage, kRetime, kShow, kCache, kKokkos, kAgent, kAudit;

namespace {

/// In the order of the help.
constexpr const cli::CommandSpec* kCommands[] = {&kInit,   &kConvert, &kDiff,   &kListShapes, &kReport, &kMerge,
                                                 &kLookup, &kCover,   &kExport, &kPackage,    &kRetime, &kShow,
                                                 &kCache,  &kKokkos,  &kAgent,  &kAudit};

}  // namespace

std::optional<cli::Action> read_command_line(int argc, const char* const* argv) {
  return cli::read_command_line(kTune, kCommands, argc, argv);
}

}  // namespace tune::commands

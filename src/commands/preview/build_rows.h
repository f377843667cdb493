#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/tune/options.h"
#include "exec/device/measure_service.h"
#include "report/build_table.h"

namespace tune::commands {

// What --build-only and --dry-run find out about specs without running them.

/// Adds what the build of a row tells, and why its spec is not valid; nothing if it is not built yet. Throws
/// Error(environment).
void judge(report::BuildRow& row, exec::MeasureService& service);
/// Why the reference that is built with the parameters of `spec` cannot be built or launched; nullopt if nothing is in
/// the way, or if it is not built. Throws Error(environment).
std::optional<std::string> reference_fault(const Spec& spec, exec::MeasureService& service);
/// Whether specs are checked against a kernel that has to be built.
bool builds_reference(const Plan& plan);
/// How they list specs on stdout.
report::ListLook list_look(const SharedOptions& options, const Plan& plan);
/// The rows that are lost, as trials.
std::vector<Trial> lost_in(std::span<const report::BuildRow> rows);

}  // namespace tune::commands

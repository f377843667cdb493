#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/space.h"
#include "model/trial.h"

namespace tune::report {

/// What became of one spec of --build-only.
struct BuildRow {
  Spec spec;
  BuildInfo info;                       ///< what is known of its build; nothing if that failed
  std::optional<std::int64_t> dynamic;  ///< bytes of shared memory that a launch asks for; nullopt: not on a GPU
  std::optional<Outcome> loss;          ///< why it is not valid
};

/// The valid specs with what their builds tell: registers (per thread), spills, shared and dynamic (bytes, declared in
/// the source and asked for by a launch) and the occupancy in per cent; on the CPU code and stack (bytes). Columns of
/// which no row knows anything are left out. Empty if there are no valid specs.
std::string build_table(std::span<const BuildRow> rows);

/// What a build on a GPU tells, on one line: `42 registers, 0 spills, 2304 bytes shared, occupancy 62 %`. Empty if it
/// tells nothing.
std::string build_figures(const BuildRow& row);

/// The table as CSV, with a row for every spec and one for each of `pruned` with its reason: mesh_idx, name, status
/// (built, failed, pruned, pruned after build), the parameters `params`, the figures (the occupancy from 0 to 1),
/// stage, cause, reason.
std::string build_csv(const std::string& name, std::span<const std::string> params, std::span<const BuildRow> rows,
                      std::span<const Rejection> pruned);

}  // namespace tune::report

#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/space.h"
#include "model/trial.h"
#include "report/fitted_table.h"

namespace tune::report {

/// What became of one spec of --build-only.
struct BuildRow {
  Spec spec;
  BuildInfo info;                       ///< what is known of its build; nothing if that failed
  std::optional<std::int64_t> dynamic;  ///< bytes of shared memory that a launch asks for; nullopt: not on a GPU
  std::optional<Outcome> loss;          ///< why it is not valid
};

/// How specs are listed.
struct ListLook {
  std::string name;                  ///< of the run
  std::vector<std::string> varying;  ///< the parameters after whose values specs are called on a terminal
  int width = 0;                     ///< columns of the terminal; 0: not a terminal
  bool colors = false;
};
/// `BM=128/BN=64`: on a terminal the parameters that vary, or the name of the run if none does; elsewhere all of them.
std::string list_name(const Spec& spec, const ListLook& look);
/// The parameters that these names leave out: `in all specs: KC=256, LOOP=cols`. Empty if there are none.
std::string constants_text(const Spec& spec, const ListLook& look);

/// The valid specs with what their builds tell: registers (per thread), spills, shared and dynamic (bytes, declared in
/// the source and asked for by a launch) and the occupancy in per cent; on the CPU code and stack (bytes). Columns of
/// which no row knows anything are left out. Empty if there are no valid specs.
///
/// On a terminal it is made to fit, as far as needed and in this order: the names become their values alone, the title
/// above them is cut, columns go (dynamic, shared, stack, code, spills, occupancy, registers), and the names are cut.
std::vector<GridColumn> build_columns(std::span<const BuildRow> rows, const ListLook& look);

/// The table as CSV, with a row for every spec and one for each of `pruned` with its reason: mesh_idx, name, status
/// (built, failed, pruned, pruned after build), the parameters `params`, the figures (the occupancy from 0 to 1),
/// stage, cause, reason.
std::string build_csv(const std::string& name, std::span<const std::string> params, std::span<const BuildRow> rows,
                      std::span<const Rejection> pruned);

/// The list of a dry run, which is printed spec by spec, with what the build store knows of each.
///
/// On a terminal specs are called after the parameters that vary, and a line is no wider than the terminal: as far as
/// needed, the names become their values alone, below a title; figures are left out; and the names are cut.
class SpecList {
 public:
  /// `space` must outlive this.
  SpecList(const Space& space, ListLook look) : space_(&space), look_(std::move(look)) {}

  /// What is printed for the next spec. The first one decides how the names look.
  std::string add(const BuildRow& row);
  /// The parameters that the names leave out, on one line; empty if there are none.
  const std::string& in_all() const { return in_all_; }

 private:
  std::string begin(const BuildRow& first);
  std::size_t room_for_name() const;

  const Space* space_;
  ListLook look_;
  bool begun_ = false, values_only_ = false;
  std::string in_all_;
};

}  // namespace tune::report

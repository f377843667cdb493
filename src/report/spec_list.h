#pragma once
#include <string>
#include <vector>

#include "model/space.h"
#include "report/build_table.h"

namespace tune::report {

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

#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kokkos/region.h"
#include "kokkos/results.h"
#include "kokkos/variable.h"

namespace tune::kokkos {

/// An input variable and its value.
struct Feature {
  const Variable* variable;
  Value value;
};

/// What a request is about: what is asked for, with the application's own values, and in which state of the
/// application.
struct Asked {
  std::vector<const Variable*> outputs;
  std::vector<Value> defaults;
  std::vector<Feature> features;  ///< with those of the contexts around it
  std::string around;             ///< what is tuned in the contexts around it, outermost first
};

/// Why nothing can be proposed; empty: it can be.
std::string why_unusable(const Asked& asked);

/// A region of the application: its key in the database of results, what is known of it, and the search for its best
/// values, which begins when nothing is known.
class TunedRegion {
 public:
  /// `results` must outlive this. Precondition: why_unusable(asked) is empty, unless `unusable` is set.
  TunedRegion(Asked asked, bool unusable, Results& results, const SearchRules& rules);

  const Asked& asked() const { return asked_; }
  /// `MR NR, m=512 n=512`
  const std::string& description() const { return description_; }

  /// The values to use where nothing is measured; empty: the application's own.
  const std::vector<tools::Scalar>& settled() const { return settled_; }
  /// Begins or goes on with the search; nullptr: there is nothing to find out, or not yet.
  const Region* search();
  const std::vector<tools::Scalar>& proposed() const { return proposed_; }
  /// What a run with `proposed` of this turn cost. `disturbed`: other regions were searched within it, which a few
  /// times is waited for.
  void add(std::uint64_t turn, double cost, bool disturbed);

  /// For people: what it uses and why.
  std::string text() const;

 private:
  void set_key();
  void start_search();
  void propose();
  void take_decision();
  std::vector<tools::Scalar> scalars(const std::vector<Value>& values) const;
  std::optional<std::vector<Value>> values_of(const database::TunedResult& result) const;

  Asked asked_;
  std::string description_, id_;
  database::ResultKey key_;
  std::vector<std::string> names_;    ///< of the outputs, as parameters
  std::vector<std::string> numbers_;  ///< features that are numbers, but no integers
  Results* results_;
  SearchRules rules_;
  bool unusable_ = false, known_ = false;
  std::optional<std::vector<Value>> nearest_;
  std::string nearest_sizes_;
  std::vector<tools::Scalar> settled_, proposed_;
  std::unique_ptr<Region> region_;
  int uses_ = 0, disturbed_ = 0;
};

}  // namespace tune::kokkos

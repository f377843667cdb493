#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/constraints/valid_specs.h"
#include "model/statistics/tournament.h"
#include "search/strategies.h"

namespace tune::kokkos {

/// How one configuration did in its turn. The configuration is named by the indices of its values, or `default` where
/// the application's own values are no candidates. Round 0 is the search, the others are those of the finals.
struct Turn {
  std::string configuration;
  int round = 0;
  double cost = 0;
};

/// What is known to be the best.
struct Decision {
  std::vector<Value> values;
  Estimate cost = {};
  double default_ratio = 1;  ///< the cost of the application's own values over this one
};

struct SearchRules {
  search::StrategyChoice strategy = search::strategies().front();
  std::int64_t evaluations = 0;  ///< configurations to try; 0: it depends on the space
  bool only_known = false;       ///< nothing is searched
};

/// Finds the best values for one region of a program while the program runs: a search over configurations, each of
/// which has a turn of several runs, then rounds in which the best of them and the application's own values are
/// compared, as in the finals of `tune`. Only a configuration that is shown to be better replaces the application's
/// values. It knows no clock, no file and no application.
class Region {
 public:
  /// `first` is tried right after the defaults. Precondition: every parameter has values; there is a default for each.
  Region(std::vector<Parameter> parameters, std::vector<Value> defaults, const std::optional<std::vector<Value>>& first,
         const SearchRules& rules);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// Takes over a turn of an earlier run; all of them before start().
  void replay(const Turn& turn);
  void start();

  /// The values of the present turn.
  const std::vector<Value>& values() const { return configurations_[current_].values; }
  /// A number for the present turn: what ran in an earlier one is not for add().
  std::uint64_t turn() const { return turn_; }
  /// The cost of a run with values(); lower is better. The first one of a turn does not count, nor does a cost that is
  /// not above 0. Returns the turn if it is over. Precondition: there is no decision yet.
  std::optional<Turn> add(double cost);

  const std::optional<Decision>& decision() const { return decision_; }

 private:
  struct Configuration {
    std::string name;
    std::optional<search::Point> point;  ///< unset: outside the space
    std::vector<Value> values;
    std::optional<double> cost;  ///< in the search
    bool failed = false;
    Finalist finalist;
  };

  std::size_t configuration_at(const search::Point& point);
  std::optional<std::size_t> configuration_of(const std::vector<Value>& values);
  bool is_over(double cost) const;
  void begin_turn(std::size_t configuration);
  void end_turn(std::optional<double> cost);
  void tell(Configuration& configuration, std::optional<double> cost);
  void search_on();
  void begin_finals();
  void next_in_round();
  void end_round();
  std::size_t index_of(const Finalist& finalist) const;
  void decide(std::size_t winner);

  std::vector<Value> defaults_;
  Space space_;
  ValidSpecs specs_;
  std::unique_ptr<search::Search> search_;
  std::int64_t budget_ = 0;
  std::vector<Configuration> configurations_;  ///< those that were tried or will be; the first one is the default
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::size_t> pending_;  ///< to be tried before the search is asked, last one first
  std::size_t current_ = 0;
  std::uint64_t turn_ = 0;
  int round_ = 0;
  std::vector<std::size_t> contenders_, in_round_;  ///< of the finals; of the present round, last one first
  std::optional<Tournament> tournament_;            ///< of the contenders
  std::vector<double> costs_;                       ///< of the present turn
  double first_ = 0;  ///< the cost of its first run, which is not among them; 0: there is none
  int unusable_ = 0;  ///< costs of the present turn that are none
  bool warm_ = false;
  std::optional<double> best_;
  std::int64_t tried_ = 0;
  std::optional<Decision> decision_;
};

}  // namespace tune::kokkos

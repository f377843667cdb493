#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/problem.h"
#include "model/space.h"
#include "model/statistics/stats.h"

/// Results of many tunings, each under what it is a result of: values and the rule by which the better one is kept.
namespace tune {

/// The sizes of a problem: m, n, k, batch in this order, of other problems all sizes by name.
using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// The machine that a result is of. Texts are empty where it is not known.
struct TunedDevice {
  std::string name, arch, driver, compiler, vendor_library;
  auto operator<=>(const TunedDevice&) const = default;
};

/// What results of different sizes have in common.
struct ResultGroup {
  std::string kernel;                          ///< the name of the tuning file
  std::string backend;                         ///< cuda, hip, cpu or program
  std::map<std::string, std::string> problem;  ///< types, layouts and what else is not usual: `a: bf16`
  std::string objective = "time";
  std::string state = "burst";  ///< of a GPU: its power state
  TunedDevice device;
  std::string source;  ///< hash of the source and its headers; empty: not known
  auto operator<=>(const ResultGroup&) const = default;
};

struct ResultKey {
  ResultGroup group;
  Sizes sizes;
  auto operator<=>(const ResultKey&) const = default;
};

/// The best configuration of one key.
struct TunedResult {
  std::vector<Setting> params;
  double seconds = 0;
  std::optional<Interval> interval;  ///< 95 % confidence interval of `seconds`
  bool checked = false;
  bool finals_interrupted = false;
  std::vector<std::pair<std::string, double>> ratios;  ///< a baseline's time over this one's, by its label
  std::string artifact_hash;                           ///< empty if nothing was built
  std::string store_path;                              ///< of the artifact in the build store
  std::string date;                                    ///< 2026-11-22; empty: not known
};

struct Database {
  std::map<std::string, std::string> aliases;  ///< another name of a device, and the name that results have
  std::map<ResultKey, TunedResult> results;
};

/// Whether `a` is kept and not `b`, of two results of one key: checked ones before others, those of complete finals
/// before those of interrupted ones, then the shorter time. Of equal times one is chosen by what else differs, so that
/// it does not matter in which order results are compared.
bool is_better(const TunedResult& a, const TunedResult& b);

/// The baseline that is faster than the result beyond kEquivalence, where it is the configuration used so far and not
/// the vendor's library; empty: none. Such a result is of no use. Results of other objectives than time have none.
std::string baseline_that_wins(const ResultKey& key, const TunedResult& result);

/// Adds a result unless a better one is there.
void add_result(Database& database, const ResultKey& key, const TunedResult& result);

/// Fills in what a problem says: sizes, types, layouts. Of a program, whose problem is not known, the parameters M, N
/// and K are the sizes, which are taken out of `params`.
void set_problem(ResultKey& key, const Problem& problem, const std::map<std::string, Value>& constants,
                 std::vector<Setting>& params);

/// `m=64 n=64 k=64`.
std::string to_text(const Sizes& sizes);
/// `BM=64 $THREADS=2`.
std::string to_text(const std::vector<Setting>& params);

}  // namespace tune

#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/backend.h"
#include "model/problem.h"
#include "model/space.h"
#include "model/statistics/stats.h"

/// Results of many tunings, each under what it is a result of: values and the rule by which the better one is kept.
namespace tune::database {

/// The sizes of a problem: m, n, k, batch, groups, max_rows in this order, of other problems all sizes by name.
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
  std::string state = "burst";                 ///< of a GPU: its power state
  TunedDevice device;
  std::string source;  ///< hash of the source and its headers; empty: not known
  auto operator<=>(const ResultGroup&) const = default;
};

/// What `backend` names; programs, if this tune does not know it.
Backend backend_of(const ResultGroup& group);

/// The properties of a GEMM that a group's `problem` leaves out where they have these values.
const std::map<std::string, std::string>& gemm_defaults();

struct ResultKey {
  ResultGroup group;
  Sizes sizes;
  auto operator<=>(const ResultKey&) const = default;
};

/// The best configuration of one key, and its time.
struct TunedResult {
  std::vector<Setting> params;
  Estimate time;
  bool checked = false;
  bool finals_interrupted = false;
  std::vector<std::pair<std::string, double>> ratios;  ///< a baseline's time over this one's, by its label
  std::string artifact_hash;                           ///< empty if nothing was built
  std::string store_path;                              ///< of the artifact in the build store
  std::string code;                                    ///< hash of the artifact and its launch; empty: not known
  std::string date;                                    ///< 2026-11-22; empty: not known
};

/// What is built and launched, for one size or many.
struct Configuration {
  std::vector<Setting> params;
  std::string artifact_hash, store_path;  ///< as of a result
};

/// A few configurations for all sizes of a group.
struct SizeRule {
  /// A node of a tree: a size that is `most` or less goes on at node `below`, another one at `above`; or a leaf.
  struct Node {
    std::string size;  ///< empty: a leaf
    std::int64_t most = 0;
    std::size_t below = 0, above = 0;
    std::size_t use = 0;  ///< of a leaf: the configuration
  };
  double slowdown = 1;  ///< the worst over the sizes that it was made from, compared with the best of each
  std::vector<Configuration> configurations;
  std::map<Sizes, std::size_t> table;  ///< which configuration the sizes use that it was made from
  std::vector<Node> tree;              ///< for other sizes; the first node is the root
};

/// The configuration that the rule has for these sizes. The flag says whether they are in its table.
std::pair<const Configuration*, bool> configuration_for(const SizeRule& rule, const Sizes& sizes);

struct Database {
  std::map<std::string, std::string> aliases;  ///< another name of a device, and the name that results have
  std::map<ResultKey, TunedResult> results;
  std::map<ResultGroup, SizeRule> rules;
};

/// Whether `a` is kept and not `b`, of two results of one key: checked ones before others, those of complete finals
/// before those of interrupted ones, those whose launch is known before others, then the shorter time. Of equal times
/// one is chosen by what else differs, so that it does not matter in which order results are compared.
bool is_better(const TunedResult& a, const TunedResult& b);

/// The baseline that is faster than the result beyond kEquivalence, where it is the configuration used so far and not
/// the vendor's library; empty: none. Such a result is of no use.
std::string baseline_that_wins(const TunedResult& result);

/// Whether all results of a group that were built say how they were launched. If not, the tuning file may launch them
/// in another way today, and they are of no use for other sizes than their own.
bool launches_are_known(const Database& database, const ResultGroup& group);

/// What a program needs of a group: its rule, and for sizes beyond the rule's table the results' own configurations.
/// Without a rule there is no tree: nothing is known of other sizes. Results with other kinds of sizes than the first
/// one are left out.
SizeRule table_of(const Database& database, const ResultGroup& group);

/// Keeps the rule with the smaller slowdown, then that with fewer configurations, for a group that has two.
void add_rule(Database& database, const ResultGroup& group, const SizeRule& rule);

/// Adds a result unless a better one is there.
void add_result(Database& database, const ResultKey& key, const TunedResult& result);

/// Fills in what a problem says: sizes, types, layouts. Of a program, whose problem is not known, the parameters M, N
/// and K are the sizes, which are taken out of `params`.
void set_problem(ResultKey& key, const Problem& problem, const std::map<std::string, Value>& constants,
                 std::vector<Setting>& params);

/// The size of this name; nullopt if there is none.
std::optional<std::int64_t> size_of(const Sizes& sizes, std::string_view name);

/// `m=64 n=64 k=64`.
std::string to_text(const Sizes& sizes);

}  // namespace tune::database

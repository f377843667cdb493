#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/prior.h"
#include "search/search.h"

namespace tune::search {

/// A numeric option of a strategy, which is set by `NAME:key=value`.
struct StrategyOption {
  std::string key;
  double value = 0;  ///< in a table of strategies: the default
  double least = 0;
  bool whole = false;
};

/// A strategy by name, with the value of each of its options.
struct StrategyChoice {
  std::string name;
  std::vector<StrategyOption> options;

  double option(std::string_view key) const;
  int whole(std::string_view key) const { return static_cast<int>(option(key)); }
};

/// All strategies with their defaults; `auto` comes first.
std::vector<StrategyChoice> strategies();

/// A strategy of Kernel Tuner, and what stands for it here.
struct KernelTunerName {
  std::string_view name;
  std::string_view ours;
  bool same = false;  ///< the same kind of search; else `ours` is only the nearest one
};

std::span<const KernelTunerName> kernel_tuner_names();

/// Parses `genetic:population=30,mutation=0.5`. Throws Error(bad_input) for an unknown name or key, or a value out of
/// range.
StrategyChoice parse_strategy(const std::string& text);

/// The same seed gives the same points on every machine. `specs` must outlive it, and so must `prior`, which `auto`
/// begins with; null: there is none.
std::unique_ptr<Search> make_search(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed,
                                    const Prior* prior = nullptr);

}  // namespace tune::search

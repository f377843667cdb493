#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "search/strategies.h"

namespace tune::search {

/// A strategy: its options with their defaults, and how a search with these options is made.
struct Method {
  StrategyChoice defaults;
  std::unique_ptr<Search> (*make)(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed,
                                  const Prior* prior);
};

Method auto_method();
Method bayes_method();
Method genetic_method();
Method annealing_method();
Method random_method();
Method exhaustive_method();

/// An option that is a whole number, or any number from 0 on.
StrategyOption whole(std::string key, int value, int least = 1);
StrategyOption real(std::string key, double value);

/// Makes a search that has no use for a prior.
template <class AnySearch>
std::unique_ptr<Search> make(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed, const Prior*) {
  return std::make_unique<AnySearch>(choice, specs, seed);
}

}  // namespace tune::search

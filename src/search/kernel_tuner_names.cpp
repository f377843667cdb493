#include "search/kernel_tuner_names.h"

#include <array>

namespace tune::search {
namespace {

constexpr auto kNames = std::to_array<KernelTunerName>({
    {"brute_force", "exhaustive", true},
    {"random_sample", "random", true},
    {"genetic_algorithm", "genetic", true},
    {"simulated_annealing", "annealing", true},
    {"bayes_opt", "bayes", true},
    {"mls", "annealing"},
    {"greedy_mls", "annealing"},
    {"ordered_greedy_mls", "annealing"},
    {"greedy_ils", "annealing"},
    {"dual_annealing", "annealing"},
    {"basinhopping", "annealing"},
    {"minimize", "annealing"},
    {"diff_evo", "genetic"},
    {"pso", "genetic"},
    {"firefly_algorithm", "genetic"},
    {"skopt", "bayes"},
    {"nsga2", "auto"},
    {"nsga3", "auto"},
    {"pyatf_strategies", "auto"},
    {"hybrid_vndx", "auto"},
    {"adaptive_tabu_grey_wolf", "auto"},
});

}  // namespace

std::span<const KernelTunerName> kernel_tuner_names() { return kNames; }

std::string_view option_for(std::string_view strategy_option) {
  if (strategy_option == "max_fevals" || strategy_option == "fraction") return "--max-evals N";
  return strategy_option == "time_limit" ? "--time-budget TIME" : "";
}

}  // namespace tune::search

#include "search/kernel_tuner_names.h"

#include <array>

namespace tune::search {
namespace {

constexpr auto kNames = std::to_array<KernelTunerName>({
    {"brute_force", "exhaustive", true},
    {"random_sample", "random", true},
    {"genetic_algorithm", "genetic", true},
    {"diff_evo", "differential_evolution", true},
    {"simulated_annealing", "annealing", true},
    {"mls", "hill_climb", true},
    {"bayes_opt", "bayes", true},
    {"greedy_mls", "hill_climb"},
    {"ordered_greedy_mls", "hill_climb"},
    {"greedy_ils", "annealing"},
    {"dual_annealing", "annealing"},
    {"basinhopping", "annealing"},
    {"minimize", "hill_climb"},
    {"pso", "differential_evolution"},
    {"firefly_algorithm", "differential_evolution"},
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

#include "search/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/values/error.h"
#include "model/values/text.h"
#include "search/methods/methods.h"

namespace tune::search {
namespace {

constexpr double kMostWhole = 5'000;

constexpr Method (*kMethods[])() = {auto_method,      bayes_method,  genetic_method,
                                    annealing_method, random_method, exhaustive_method};

constexpr auto kKernelTunerNames = std::to_array<KernelTunerName>({
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

[[noreturn]] void refuse(const std::string& text, const std::string& cause) {
  throw Error(ExitCode::bad_input, fmt::format("--strategy {}: {}", text, cause));
}

template <typename Items, typename Name>
std::vector<std::string> names_of(const Items& items, Name name) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.*name);
  return names;
}

StrategyChoice find_strategy(const std::string& text, const std::string& name) {
  const std::vector<StrategyChoice> all = strategies();
  const auto known = kernel_tuner_names();
  const auto theirs = std::ranges::find(known, name, &KernelTunerName::name);
  if (theirs != known.end() && !theirs->same)
    refuse(text, fmt::format("this strategy of Kernel Tuner is not here; the nearest one is {}", theirs->ours));
  const auto found =
      std::ranges::find(all, theirs == known.end() ? std::string_view(name) : theirs->ours, &StrategyChoice::name);
  if (found != all.end()) return *found;
  const auto names = names_of(all, &StrategyChoice::name);
  const std::string advice = did_you_mean(name, names);
  refuse(text, fmt::format("there is no strategy '{}'{}", name,
                           advice.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : advice));
}

/// The option of the command line that an option of Kernel Tuner's strategies is here, such as max_fevals; empty: none.
std::string_view option_for(std::string_view strategy_option) {
  if (strategy_option == "max_fevals" || strategy_option == "fraction") return "--max-evals N";
  return strategy_option == "time_limit" ? "--time-budget TIME" : "";
}

double parse_number(const std::string& text, const StrategyOption& option, const std::string& value) {
  const double number = number_from<double>(value).value_or(std::nan(""));
  if (!std::isfinite(number) || number < option.least ||
      (option.whole && (number != std::floor(number) || number > kMostWhole)))
    refuse(text, fmt::format("{} is a{} number of at least {}{}, not '{}'", option.key, option.whole ? " whole" : "",
                             option.least, option.whole ? fmt::format(" and at most {}", kMostWhole) : "", value));
  return number;
}

void set_option(const std::string& text, StrategyChoice& choice, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) refuse(text, fmt::format("'{}' is not key=value", assignment));
  const std::string key = assignment.substr(0, equals);
  const auto option = std::ranges::find(choice.options, key, &StrategyOption::key);
  if (const std::string_view ours = option_for(key); !ours.empty())
    refuse(text, fmt::format("{} is the option {} here", key, ours));
  if (option == choice.options.end()) {
    const auto keys = names_of(choice.options, &StrategyOption::key);
    const std::string advice = did_you_mean(key, keys);
    refuse(text, fmt::format("{} has no option '{}'{}", choice.name, key,
                             !advice.empty() ? advice
                             : keys.empty()  ? "; it has none"
                                             : fmt::format("; it has {}", fmt::join(keys, ", "))));
  }
  option->value = parse_number(text, *option, assignment.substr(equals + 1));
}

}  // namespace

double StrategyChoice::option(std::string_view key) const {
  return std::ranges::find(options, key, &StrategyOption::key)->value;
}

std::vector<StrategyChoice> strategies() {
  std::vector<StrategyChoice> all;
  for (const auto method : kMethods) all.push_back(method().defaults);
  return all;
}

std::span<const KernelTunerName> kernel_tuner_names() { return kKernelTunerNames; }

StrategyChoice parse_strategy(const std::string& text) {
  const auto colon = text.find(':');
  StrategyChoice choice = find_strategy(text, text.substr(0, colon));
  std::size_t begin = colon == std::string::npos ? text.size() : colon + 1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    set_option(text, choice, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return choice;
}

std::unique_ptr<Search> make_search(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed,
                                    const Prior* prior) {
  const auto is_chosen = [&](const auto method) { return method().defaults.name == choice.name; };
  return (*std::ranges::find_if(kMethods, is_chosen))().make(choice, specs, seed, prior);
}

StrategyOption whole(std::string key, int value, int least) {
  return {std::move(key), static_cast<double>(value), static_cast<double>(least), true};
}

StrategyOption real(std::string key, double value) { return {std::move(key), value, 0, false}; }

}  // namespace tune::search

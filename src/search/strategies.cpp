#include "search/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/expression/expression.h"
#include "model/values/error.h"
#include "search/kernel_tuner_names.h"
#include "search/methods/annealing.h"
#include "search/methods/auto_search.h"
#include "search/methods/differential_evolution.h"
#include "search/methods/genetic.h"
#include "search/methods/hill_climb.h"
#include "search/methods/ordered.h"
#include "search/methods/random_search.h"

namespace tune::search {
namespace {

constexpr double kMostWhole = 5'000;

StrategyOption whole(std::string key, int value, int least = 1) {
  return {std::move(key), static_cast<double>(value), static_cast<double>(least), true};
}
StrategyOption real(std::string key, double value) { return {std::move(key), value, 0, false}; }

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

double parse_number(const std::string& text, const StrategyOption& option, const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool complete = error == std::errc() && end == value.data() + value.size() && std::isfinite(number);
  if (!complete || number < option.least || (option.whole && (number != std::floor(number) || number > kMostWhole)))
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

// Among points that no axis tells apart, as of a space with one spec, there is nothing to choose.
bool useful(const Prior* prior) {
  return prior != nullptr && !prior->ranked().empty() && !CoordinateSystem(prior->specs().space()).axes().empty();
}

}  // namespace

double StrategyChoice::option(std::string_view key) const {
  return std::ranges::find(options, key, &StrategyOption::key)->value;
}

std::vector<StrategyChoice> strategies() {
  const AutoOptions portfolio;
  const BayesOptions bayes;
  const HillClimbOptions climb;
  const AnnealingOptions annealing;
  const GeneticOptions genetic;
  const DifferentialEvolutionOptions evolution;
  return {
      {"auto",
       {whole("design", portfolio.design, 2), whole("patience", portfolio.patience),
        whole("model", portfolio.picks, 0)}},
      {"bayes",
       {whole("design", bayes.design, 2), whole("points", bayes.points, 20), whole("candidates", bayes.candidates)}},
      {"genetic",
       {whole("population", genetic.population, 2), whole("tournament", genetic.tournament),
        real("mutation", genetic.mutation)}},
      {"differential_evolution",
       {whole("population", evolution.population, 2), real("weight", evolution.weight),
        real("crossover", evolution.crossover), real("greed", evolution.greed)}},
      {"annealing",
       {whole("starts", annealing.starts), real("heat", annealing.heat), real("cooling", annealing.cooling),
        real("coldest", annealing.coldest)}},
      {"hill_climb", {whole("starts", climb.starts)}},
      {"random", {whole("latin", 1, 0)}},
      {"exhaustive", {}},
  };
}

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
  const auto real = [&](const char* key) { return choice.option(key); };
  const auto whole = [&](const char* key) { return static_cast<int>(choice.option(key)); };
  if (choice.name == "random") return std::make_unique<RandomSearch>(specs, seed, RandomOptions{whole("latin") != 0});
  if (choice.name == "hill_climb") return std::make_unique<HillClimb>(specs, seed, HillClimbOptions{whole("starts")});
  if (choice.name == "annealing")
    return std::make_unique<Annealing>(
        specs, seed, AnnealingOptions{whole("starts"), real("heat"), real("cooling"), real("coldest")});
  if (choice.name == "genetic")
    return std::make_unique<Genetic>(specs, seed,
                                     GeneticOptions{whole("population"), whole("tournament"), real("mutation")});
  if (choice.name == "differential_evolution")
    return std::make_unique<DifferentialEvolution>(
        specs, seed,
        DifferentialEvolutionOptions{whole("population"), real("weight"), real("crossover"), real("greed")});
  if (choice.name == "bayes") {
    BayesOptions options;
    options.design = whole("design");
    options.points = whole("points");
    options.candidates = whole("candidates");
    return std::make_unique<Bayes>(specs, seed, options);
  }
  if (choice.name == "auto")
    return std::make_unique<Auto>(specs, seed, AutoOptions{whole("design"), whole("patience"), whole("model")},
                                  useful(prior) && whole("model") > 0 ? prior : nullptr);
  return std::make_unique<Ordered>(specs);
}

}  // namespace tune::search

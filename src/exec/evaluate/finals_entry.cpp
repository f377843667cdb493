#include "exec/evaluate/finals_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/statistics/stats.h"

namespace tune::exec {
namespace {

/// The metrics of the round whose time, or cost, is nearest to the median; those that only some rounds report (energy)
/// are medians over these.
std::map<std::string, double> metrics_of_median(const Finalist& finalist,
                                                const std::map<int, FinalsEntry::Figures>& figures) {
  const double middle = median_cost(finalist);
  const bool by_cost = has_costs(finalist);
  const auto nearest = std::ranges::min_element(finalist.rounds, {}, [&](const auto& each) {
    const FinalsRound& round = each.second;
    return by_cost ? std::abs(round.cost.value_or(INFINITY) - middle) : std::abs(round.seconds - middle);
  });
  std::map<std::string, double> chosen = figures.at(nearest->first).metrics;
  std::map<std::string, std::vector<double>> all;
  for (const auto& [number, told] : figures)
    for (const auto& [name, value] : told.metrics) all[name].push_back(value);
  for (const auto& [name, values] : all)
    if (values.size() < figures.size()) chosen[name] = median(values);
  return chosen;
}

}  // namespace

void FinalsEntry::add(int number, FinalsRound round, Figures told) {
  if (round.clean_seconds >= round.seconds) round.clean_seconds.reset();
  result.rounds[number] = round;
  figures[number] = std::move(told);
}

void FinalsEntry::forget(int number) {
  result.rounds.erase(number);
  figures.erase(number);
}

Finalist FinalsEntry::result_until(int last_round) const {
  Finalist until = result;
  std::map<int, Figures> held = figures;
  const auto is_later = [&](const auto& round) { return round.first > last_round; };
  std::erase_if(until.rounds, is_later);
  std::erase_if(held, is_later);
  for (const auto& [number, told] : held) until.launches += told.launches;
  if (!until.rounds.empty()) until.metrics = metrics_of_median(until, held);
  return until;
}

}  // namespace tune::exec

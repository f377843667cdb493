#include "exec/evaluate/finals_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tune::exec {
namespace {

/// The metrics of the round whose time, or cost, is nearest to the median; those that only some rounds report (energy)
/// are medians over these.
std::map<std::string, double> metrics_of_median(const Finalist& finalist,
                                                const std::map<int, FinalsEntry::Round>& rounds) {
  const double middle = median_cost(finalist);
  const auto nearest = std::ranges::min_element(finalist.costs.empty() ? finalist.rounds : finalist.costs, {},
                                                [&](const auto& round) { return std::abs(round.second - middle); });
  std::map<std::string, double> chosen = rounds.at(nearest->first).metrics;
  std::map<std::string, std::vector<double>> all;
  for (const auto& [number, round] : rounds)
    for (const auto& [name, value] : round.metrics) all[name].push_back(value);
  for (const auto& [name, values] : all)
    if (values.size() < rounds.size()) chosen[name] = median(values);
  return chosen;
}

}  // namespace

void FinalsEntry::add(int round, double seconds, double clean_seconds, Round other) {
  result.rounds[round] = seconds;
  if (clean_seconds > 0 && clean_seconds < seconds) result.clean_rounds[round] = clean_seconds;
  if (other.cost) result.costs[round] = *other.cost;
  rounds[round] = std::move(other);
}

void FinalsEntry::forget(int round) {
  result.rounds.erase(round);
  result.clean_rounds.erase(round);
  result.costs.erase(round);
  rounds.erase(round);
}

Finalist FinalsEntry::result_until(int last_round) const {
  Finalist until = result;
  std::map<int, Round> held = rounds;
  const auto is_later = [&](const auto& round) { return round.first > last_round; };
  std::erase_if(until.rounds, is_later);
  std::erase_if(until.clean_rounds, is_later);
  std::erase_if(until.costs, is_later);
  std::erase_if(held, is_later);
  for (const auto& [number, round] : held) until.launches += round.launches;
  if (!until.rounds.empty()) until.metrics = metrics_of_median(until, held);
  return until;
}

}  // namespace tune::exec

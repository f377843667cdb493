#include "model/values/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tune {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other,
/// ignoring case.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  const auto same = [&](std::size_t i, std::size_t j) { return lower(from[i - 1]) == lower(to[j - 1]); };
  std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before.swap(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({above[j - 1] + (same(i, j) ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// At most a third of the letters may be wrong, or one of two; or half of them are left out, as in `params` for
/// `parameters`.
bool is_near(std::size_t distance, std::string_view a, std::string_view b) {
  const std::size_t most = std::max(a.size(), b.size()), fewest = std::min(a.size(), b.size());
  const bool only_leaves_out = fewest >= 4 && distance == most - fewest && lower(a[0]) == lower(b[0]);
  return distance * 3 <= most + 1 || (only_leaves_out && distance * 2 <= most);
}

}  // namespace

int Names::declare(std::string_view name) {
  const auto [at, is_new] = slots_.try_emplace(std::string(name), size());
  if (is_new) names_.emplace_back(name);
  return at->second;
}

std::optional<int> Names::find(std::string_view name) const {
  const auto found = slots_.find(name);
  return found == slots_.end() ? std::nullopt : std::optional(found->second);
}

void Names::add_alias(std::string_view name, int slot) { slots_.try_emplace(std::string(name), slot); }

std::string Names::nearest(std::string_view misspelled) const { return nearest_name(misspelled, names_); }

std::string nearest_name(std::string_view misspelled, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(misspelled, candidate);
    if (!is_near(distance, misspelled, candidate) || (best && distance >= best_distance)) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best ? *best : std::string();
}

std::string did_you_mean(std::string_view misspelled, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(misspelled, candidates);
  return nearest.empty() ? nearest : fmt::format(", did you mean '{}'?", nearest);
}

}  // namespace tune

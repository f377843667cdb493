#include "search/methods/untried.h"

namespace tune::search {
namespace {

constexpr int kMostDraws = 4;

}  // namespace

std::optional<std::int64_t> Untried::find(const Point& point) const {
  const auto index = specs_->index_of(point);
  return index && !taken_.contains(*index) ? index : std::nullopt;
}

bool Untried::take(const Point& point) {
  const auto index = specs_->index_of(point);
  return index && taken_.insert(*index).second;
}

std::int64_t Untried::undrawn_index(std::int64_t position) const {
  const auto found = moved_.find(position);
  return found == moved_.end() ? position : found->second;
}

// Fisher-Yates shuffle of a permutation of which only the changed positions are stored.
std::optional<Point> Untried::draw(Random& random) {
  while (undrawn_ > 0) {
    const auto position = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(undrawn_)));
    const std::int64_t index = undrawn_index(position);
    --undrawn_;
    if (position != undrawn_) moved_[position] = undrawn_index(undrawn_);
    moved_.erase(undrawn_);
    if (taken_.insert(index).second) return specs_->at(index);
  }
  return std::nullopt;
}

std::optional<std::int64_t> Untried::glance(Random& random) const {
  if (specs_->size() == 0) return std::nullopt;
  for (int attempt = 0; attempt < kMostDraws; ++attempt) {
    const std::int64_t index = specs_->sample(random);
    if (!taken_.contains(index)) return index;
  }
  return std::nullopt;
}

}  // namespace tune::search

#include "search/strategy.h"

#include <algorithm>
#include <utility>

namespace tune::search {
namespace {

/// Up to this many specs are kept in a list.
constexpr std::int64_t kListedSpecs = 4'000'000;

}  // namespace

Exhaustive::Exhaustive(const ValidSpecs& specs, std::vector<Spec> first)
    : specs_(&specs), first_(std::move(first)), scan_(specs.space()) {
  const std::optional<std::int64_t> points = specs.space().product_size();
  if (!points || *points <= GridScan::kShort || specs.size() > kListedSpecs) return;
  listed_.emplace();
  for (std::int64_t i = 0; i < specs.size(); ++i) listed_->push_back(specs.spec(i).mesh_idx);
  std::sort(listed_->rbegin(), listed_->rend());
}

std::optional<Spec> Exhaustive::ask() {
  if (next_first_ < first_.size()) return first_[next_first_++];
  const auto was_first = [this](const Spec& spec) {
    return std::any_of(first_.begin(), first_.end(),
                       [&](const Spec& other) { return other.mesh_idx == spec.mesh_idx; });
  };
  while (auto spec = next())
    if (!was_first(*spec)) return spec;
  return std::nullopt;
}

std::optional<Spec> Exhaustive::next() {
  if (listed_) {
    if (listed_->empty()) return std::nullopt;
    const std::int64_t mesh_idx = listed_->back();
    listed_->pop_back();
    return specs_->space().spec(*specs_->space().point({mesh_idx, {}}));
  }
  while (auto spec = scan_.next())
    if (specs_->contains(specs_->point(*spec))) return spec;
  return std::nullopt;
}

SpecSearch::SpecSearch(std::unique_ptr<const ValidSpecs> specs, std::unique_ptr<const Prior> prior,
                       std::unique_ptr<Search> search, std::vector<Spec> first, Cost cost)
    : specs_(std::move(specs)),
      prior_(std::move(prior)),
      search_(std::move(search)),
      first_(std::move(first)),
      cost_(std::move(cost)) {}

std::optional<Spec> SpecSearch::ask() {
  const bool begins_with_search = !std::exchange(begun_, true) && prior_ && !prior_->ranked().empty();
  while (!begins_with_search && next_first_ < first_.size()) {
    const Spec& spec = first_[next_first_++];
    if (search_->claim(specs_->point(spec))) return spec;
  }
  const auto point = search_->ask();
  if (!point) return std::nullopt;
  return specs_->spec(*point);
}

void SpecSearch::tell(const Trial& trial) { search_->tell(specs_->point(trial.spec), cost_(trial)); }

}  // namespace tune::search

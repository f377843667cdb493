#include "search/spec_search.h"

#include <utility>

namespace tune::search {

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

#pragma once
#include <deque>

#include "search/strategy.h"

namespace tune::search {

/// Asks for the given specs in their order, and for no others.
class Listed : public Strategy {
 public:
  explicit Listed(std::deque<Spec> specs) : specs_(std::move(specs)) {}

  std::optional<Spec> ask() override {
    if (specs_.empty()) return std::nullopt;
    Spec spec = std::move(specs_.front());
    specs_.pop_front();
    return spec;
  }
  void tell(const Trial&) override {}

 private:
  std::deque<Spec> specs_;
};

}  // namespace tune::search

#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tune {

/// A set of rows of equal width, numbered in the order in which they were added.
class RowSet {
 public:
  explicit RowSet(std::size_t width = 0) : width_(width) {}

  /// The number of the row of `width` words at `row`; the row is added if it is not in the set.
  std::uint32_t intern(const std::uint32_t* row) {
    if (2 * (count_ + 1) > places_.size()) grow();
    for (std::size_t place = hash(row) & (places_.size() - 1);; place = (place + 1) & (places_.size() - 1)) {
      std::uint32_t& number = places_[place];
      if (number == kFree) {
        words_.insert(words_.end(), row, row + width_);
        number = count_;
        return count_++;
      }
      if (std::equal(row, row + width_, at(number))) return number;
    }
  }

  const std::uint32_t* at(std::uint32_t number) const { return words_.data() + number * width_; }
  std::uint32_t size() const { return count_; }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  std::size_t hash(const std::uint32_t* row) const {
    std::uint64_t mixed = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < width_; ++i) {
      mixed = (mixed ^ row[i]) * 0xd6e8feb86659fd93;
      mixed ^= mixed >> 32;
    }
    return mixed;
  }

  void grow() {
    places_.assign(std::max<std::size_t>(16, 2 * places_.size()), kFree);
    for (std::uint32_t number = 0; number < count_; ++number) {
      std::size_t place = hash(at(number)) & (places_.size() - 1);
      while (places_[place] != kFree) place = (place + 1) & (places_.size() - 1);
      places_[place] = number;
    }
  }

  std::size_t width_;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> places_;
};

}  // namespace tune

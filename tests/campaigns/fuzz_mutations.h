#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tune::fuzz {

/// Numbers that follow from a seed, the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// From 0 to below `count`, which is above 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  /// Once in `count` times.
  bool once_in(std::size_t count) { return below(count) == 0; }
  template <class List>
  const auto& any(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::uint64_t state_;
};

/// A text cut into words, numbers, quoted texts, blanks and single signs; joined they are the text again.
std::vector<std::string> tokens_of(std::string_view text);

/// Changes texts of one sort in ways that know their structure: words, numbers and quoted texts give way to others of
/// the sort's own texts and to values at limits; lines and entries are dropped, doubled and moved; values are nested,
/// anchored and quoted; bytes that no text should have come in.
class Mutator {
 public:
  /// `seeds` are valid texts of the sort.
  explicit Mutator(std::vector<std::string> seeds);
  std::string make(Dice& dice) const;

 private:
  void change(std::string& text, Dice& dice) const;
  void change_token(std::string& text, Dice& dice) const;
  void change_lines(std::string& text, Dice& dice) const;
  void wrap_token(std::string& text, Dice& dice) const;

  std::vector<std::string> seeds_;
  std::vector<std::string> words_;  ///< words, numbers and quoted texts of all seeds
};

}  // namespace tune::fuzz

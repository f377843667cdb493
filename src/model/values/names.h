#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tune {

/// The names that an expression may use. Each has a slot in the array of values over which expressions are evaluated.
class Names {
 public:
  /// The slot of `name`, which is created if the name was not declared before.
  int declare(std::string_view name);
  std::optional<int> find(std::string_view name) const;
  /// Another name of a slot, unless it is declared already.
  void add_alias(std::string_view name, int slot);
  const std::string& at(int slot) const { return names_[static_cast<std::size_t>(slot)]; }
  /// In the order of their slots.
  const std::vector<std::string>& all() const { return names_; }
  int size() const { return static_cast<int>(names_.size()); }
  /// The declared name nearest to a misspelled one (edit distance, case); empty if none is near.
  std::string nearest(std::string_view misspelled) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> slots_;  ///< also of aliases
};

/// The candidate nearest to `misspelled`, which may be the same one; empty: none is near.
std::string nearest_name(std::string_view misspelled, std::span<const std::string> candidates);
/// `, did you mean 'BM'?` for the candidate nearest to `misspelled`, or nothing if none is near.
std::string did_you_mean(std::string_view misspelled, std::span<const std::string> candidates);

}  // namespace tune

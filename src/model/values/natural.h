#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tune {

/// A natural number of any size, for counts beyond 63 bits. It can be added to, multiplied and compared.
class Natural {
 public:
  explicit Natural(std::int64_t value = 0) : text_(std::to_string(value)) { std::reverse(text_.begin(), text_.end()); }

  /// The number with these decimal digits; nullopt: they are none.
  static std::optional<Natural> parse(const std::string& digits) {
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    Natural number;
    number.text_.assign(digits.rbegin(), digits.rend());
    number.trim();
    return number;
  }

  Natural& operator+=(const Natural& other) {
    text_.resize(std::max(text_.size(), other.text_.size()) + 1, '0');
    int carry = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      carry += digit(i) + other.digit(i);
      text_[i] = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    trim();
    return *this;
  }

  Natural& operator*=(const Natural& other) {
    Natural sum;
    Natural shifted = *this;
    for (std::size_t i = 0; i < other.text_.size(); ++i) {
      for (int times = other.digit(i); times > 0; --times) sum += shifted;
      shifted.text_.insert(0, 1, '0');
    }
    sum.trim();
    return *this = sum;
  }

  bool operator==(const Natural&) const = default;
  std::string text() const { return {text_.rbegin(), text_.rend()}; }

 private:
  int digit(std::size_t i) const { return i < text_.size() ? text_[i] - '0' : 0; }
  void trim() {
    while (text_.size() > 1 && text_.back() == '0') text_.pop_back();
  }

  std::string text_;  ///< decimal digits, the least significant first
};

}  // namespace tune

#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/values/value.h"

namespace tune::recording {

/// A text that is not what it should be, and where it is not. what() says why.
class BadJson : public std::runtime_error {
 public:
  BadJson(const char* at, const std::string& why) : std::runtime_error(why), at_(at) {}
  const char* at() const { return at_; }

 private:
  const char* at_;
};

/// Walks over the members of a JSON object, or the elements of a list, without looking into them: recordings are large,
/// most of what they hold is of no interest, and some end in the middle.
class JsonMembers {
 public:
  struct Member {
    std::string_view key;    ///< without quotes, escapes as written; empty in a list
    std::string_view value;  ///< as written; up to the end of the text if that comes first
    bool cut = false;        ///< the text ended inside the value
  };

  /// `text` starts with `{` or `[`, but for blanks; an empty text has no members. Throws BadJson otherwise.
  explicit JsonMembers(std::string_view text);
  /// nullopt behind the last one, and where the text ends. Throws BadJson.
  std::optional<Member> next();
  /// Whether the closing bracket was there.
  bool closed() const { return closed_; }

 private:
  bool skip_blanks();
  std::string_view string();
  bool skip_value();

  const char* at_;
  const char* end_;
  bool object_ = true;
  bool first_ = true;
  bool closed_ = false;
};

/// The key of a member, without escapes. Throws BadJson for an element of a list, which has none.
std::string name_of(const JsonMembers::Member& member);
/// The scalars of a JSON text. NaN and Infinity are numbers, as Python writes them. Throw BadJson.
double to_number(std::string_view json);
std::string to_string(std::string_view json);
/// Integer, number, boolean, text, or a list of two integers as a pair.
Value to_parameter_value(std::string_view json);
std::vector<double> to_numbers(std::string_view json);

inline bool is_number(std::string_view json) {
  return !json.empty() && (json[0] == '-' || (json[0] >= '0' && json[0] <= '9') || json[0] == 'N' || json[0] == 'I');
}
inline bool is_string(std::string_view json) { return !json.empty() && json[0] == '"'; }

}  // namespace tune::recording

#include "recording/text/json_text.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "model/values/text.h"
#include "wire/json.h"

namespace tune::recording {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Behind the closing quote; `end` if there is none. Precondition: `at` is the opening quote.
const char* behind_string(const char* at, const char* end) {
  for (++at; at < end; ++at) {
    if (*at == '\\') {
      ++at;
    } else if (*at == '"') {
      return at + 1;
    }
  }
  return end;
}

std::string excerpt(std::string_view json) {
  json = json.substr(0, json.find('\n'));
  return "'" + std::string(json.substr(0, 40)) + (json.size() > 40 ? "...'" : "'");
}

}  // namespace

JsonMembers::JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {
  if (!skip_blanks()) return;
  if (*at_ != '{' && *at_ != '[')
    throw BadJson(at_, "a JSON object or list is expected, not " + excerpt({at_, end_}) +
                           "; a recorded run is a journal, a CSV file, a Kernel Tuner cache or T4 results");
  object_ = *at_++ == '{';
}

bool JsonMembers::skip_blanks() {
  while (at_ < end_ && is_blank(*at_)) ++at_;
  return at_ < end_;
}

std::string_view JsonMembers::string() {
  const char* begin = at_;
  if (*at_ != '"') throw BadJson(at_, "a key in quotes is expected");
  at_ = behind_string(at_, end_);
  return {begin + 1, at_ - 1};
}

// Whether the value was whole.
bool JsonMembers::skip_value() {
  int depth = 0;
  while (at_ < end_) {
    const char c = *at_;
    if (c == '"') {
      const char* const begin = at_;
      at_ = behind_string(at_, end_);
      if (depth == 0) return at_ - begin > 1 && at_[-1] == '"';
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return true;
      if (--depth == 0) {
        ++at_;
        return true;
      }
    } else if (depth == 0 && (c == ',' || is_blank(c))) {
      return true;
    }
    ++at_;
  }
  return false;
}

std::optional<JsonMembers::Member> JsonMembers::next() {
  if (closed_ || !skip_blanks()) return std::nullopt;
  const char close = object_ ? '}' : ']';
  if (*at_ == ',' && !first_) {
    ++at_;
    if (!skip_blanks()) return std::nullopt;
  } else if (!first_ && *at_ != close) {
    throw BadJson(at_, "a comma is expected between two members");
  }
  if (*at_ == close) {
    closed_ = true;
    return std::nullopt;
  }
  first_ = false;
  Member member;
  if (object_) {
    member.key = string();
    if (!skip_blanks()) return std::nullopt;
    if (*at_++ != ':') throw BadJson(at_ - 1, "a colon is expected behind the key");
    if (!skip_blanks()) return std::nullopt;
  }
  const char* begin = at_;
  member.cut = !skip_value();
  member.value = {begin, at_};
  if (member.value.empty()) throw BadJson(at_, "a value is missing");
  return member;
}

std::string name_of(const JsonMembers::Member& member) {
  if (member.key.data() == nullptr) throw BadJson(member.value.data(), "an object is expected, not a list");
  return to_string({member.key.data() - 1, member.key.size() + 2});
}

double to_number(std::string_view json) {
  if (const auto number = number_from<double>(json)) return *number;
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity" || json == "-Infinity")
    return json[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  throw BadJson(json.data(), "a number is expected, not " + excerpt(json));
}

std::string to_string(std::string_view json) {
  if (!is_string(json)) throw BadJson(json.data(), "a text in quotes is expected, not " + excerpt(json));
  if (json.find('\\') == std::string_view::npos) return std::string(json.substr(1, json.size() - 2));
  const auto text = parse_json(json);
  if (!text.is_string()) throw BadJson(json.data(), "malformed text " + excerpt(json));
  return text.get<std::string>();
}

Value to_parameter_value(std::string_view json) {
  if (const auto integer = number_from<std::int64_t>(json)) return *integer;
  if (is_number(json)) {
    const double number = to_number(json);
    if (!std::isfinite(number)) throw BadJson(json.data(), "a parameter's value must be finite, not " + excerpt(json));
    return number;
  }
  if (is_string(json)) return to_string(json);
  if (json == "true" || json == "false") return Bool{json == "true", true};
  const auto list = parse_json(json);
  if (list.is_array() && list.size() == 2 && list[0].is_number_integer() && list[1].is_number_integer())
    return Pair{list[0].get<std::int64_t>(), list[1].get<std::int64_t>()};
  throw BadJson(json.data(), "a parameter's value must be a number, a boolean, a text or a pair, not " + excerpt(json));
}

std::vector<double> to_numbers(std::string_view json) {
  std::vector<double> numbers;
  JsonMembers members(json);
  while (const auto member = members.next()) numbers.push_back(to_number(member->value));
  return numbers;
}

}  // namespace tune::recording

#include "wire/device_clocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "wire/messages.h"

namespace tune::wire {
namespace {

constexpr std::pair<Refused::Why, std::string_view> kReasons[] = {{Refused::Why::permission, "permission"},
                                                                  {Refused::Why::lost, "lost"},
                                                                  {Refused::Why::in_use, "in_use"},
                                                                  {Refused::Why::other, "other"}};

std::string text_of(const SettableClocks& clocks) {
  std::string text = fmt::format("settable {}", clocks.restored ? 1 : 0);
  for (const Choices& choices : clocks.choices)
    text +=
        fmt::format(" {} {} {} {}", choices.least, choices.most, choices.values.size(), fmt::join(choices.values, " "));
  return text;
}

std::string text_of(const SettingsApplied&) { return "applied"; }

// One line, whatever a library says.
std::string text_of(const Refused& refused) {
  std::string message = refused.message;
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  for (const auto& [why, name] : kReasons)
    if (why == refused.why) return fmt::format("refused {} {}", name, message);
  return "refused other " + message;
}

/// Reads words one by one. Throws Malformed for what is not there.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), stream_(line_) {}

  std::string word() {
    std::string word;
    if (!(stream_ >> word)) complain();
    return word;
  }
  std::int64_t number() {
    std::int64_t number = 0;
    if (!(stream_ >> number)) complain();
    return number;
  }
  std::vector<std::int64_t> numbers() {
    constexpr std::int64_t kMost = 10'000;
    const std::int64_t count = number();
    if (count < 0 || count > kMost) complain();
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(number());
    return all;
  }
  std::string rest() {
    std::string rest;
    std::getline(stream_ >> std::ws, rest);
    return rest;
  }
  [[noreturn]] void complain() const { throw Malformed("not a line about a device's clocks: " + line_); }

 private:
  std::string line_;
  std::istringstream stream_;
};

Refused read_refused(Words& words) {
  const std::string reason = words.word();
  for (const auto& [why, name] : kReasons)
    if (name == reason) return {why, words.rest()};
  words.complain();
}

}  // namespace

std::string encode(const DeviceSettings& settings) { return fmt::format("set {}", fmt::join(settings.values, " ")); }

std::string encode(const ClockAnswer& answer) {
  return std::visit([](const auto& said) { return text_of(said); }, answer);
}

DeviceSettings decode_settings(std::string_view line) {
  Words words(line);
  if (words.word() != "set") words.complain();
  DeviceSettings settings;
  for (std::int64_t& value : settings.values) value = words.number();
  return settings;
}

ClockAnswer decode_clock_answer(std::string_view line) {
  Words words(line);
  const std::string kind = words.word();
  if (kind == "applied") return SettingsApplied();
  if (kind == "refused") return read_refused(words);
  if (kind != "settable") words.complain();
  SettableClocks clocks;
  clocks.restored = words.number() != 0;
  for (Choices& choices : clocks.choices) {
    choices.least = words.number();
    choices.most = words.number();
    choices.values = words.numbers();
  }
  return clocks;
}

std::string clock_file_name(const std::string& device_id) { return "tune-" + device_id + ".clocks"; }

}  // namespace tune::wire

#include "config/foreign/configuration_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/values/text.h"

namespace tune::config {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr std::array<NamePair, 3> kSizes = {{{"M", "m"}, {"N", "n"}, {"K", "k"}}};
constexpr std::array<NamePair, 10> kParameters = {{{"BM", "BLOCK_SIZE_M"},
                                                   {"BN", "BLOCK_SIZE_N"},
                                                   {"BK", "BLOCK_SIZE_K"},
                                                   {"GM", "GROUP_SIZE_M"},
                                                   {"SK", "SPLIT_K"},
                                                   {"nW", "num_warps"},
                                                   {"nS", "num_stages"},
                                                   {"EU", "waves_per_eu"},
                                                   {"kP", "kpack"},
                                                   {"mfma", "matrix_instr_nonkdim"}}};
/// Its value is a word that may contain `_`, so it stands last.
constexpr std::string_view kSchedule = "_sched";
constexpr std::string_view kBias = "_bias";

constexpr const char* kExample = "M16_N8_K128_BM64_BN64_BK64_GM1_SK2_nW2_nS0_EU0_kP2_mfma16";

std::string names_of_parameters() {
  std::vector<std::string_view> names;
  for (const NamePair& pair : kParameters) names.push_back(pair.first);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The name of a word of the form `name` and digits.
template <std::size_t size>
const NamePair* find(const std::array<NamePair, size>& names, std::string_view word) {
  const std::size_t digits = word.find_first_of("0123456789");
  const bool whole =
      digits != std::string_view::npos && word.find_first_not_of("0123456789", digits) == std::string_view::npos;
  const auto found = std::ranges::find(names, word.substr(0, digits), &NamePair::first);
  return whole && found != names.end() ? &*found : nullptr;
}

void read_word(std::string_view word, ConfigurationText& read, const Place& place, Diagnostics& diagnostics) {
  if (const NamePair* size = find(kSizes, word)) {
    read.problem.emplace_back(size->second, word.substr(size->first.size()));
  } else if (const NamePair* parameter = find(kParameters, word)) {
    read.parameters.push_back({std::string(parameter->first), std::string(parameter->second),
                               std::string(word.substr(parameter->first.size()))});
  } else {
    diagnostics.add(
        place,
        fmt::format("'{}' is no part of a configuration, which has names with a number behind each, joined by _: "
                    "sizes (M, N, K) and parameters ({}), such as {}",
                    word, names_of_parameters(), kExample));
  }
}

}  // namespace

ConfigurationText read_configuration(std::string_view text, const Place& place, Diagnostics& diagnostics) {
  ConfigurationText read;
  if (text.ends_with(kBias)) {
    read.problem.emplace_back("bias", "col");
    text.remove_suffix(kBias.size());
  }
  std::optional<std::string> schedule;
  if (const std::size_t at = text.find(kSchedule); at != std::string_view::npos) {
    schedule = lower_case(text.substr(at + kSchedule.size()));
    text = text.substr(0, at);
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('_', begin), text.size());
    read_word(text.substr(begin, end - begin), read, place, diagnostics);
    begin = end + 1;
  }
  if (schedule) read.parameters.push_back({"schedule_hint", "instruction_sched_variant", *schedule});
  return read;
}

}  // namespace tune::config

#include "report/spec_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/text.h"

namespace tune::report {
namespace {

constexpr std::size_t kNumberWidth = 10;  ///< of a mesh_idx and the blank behind it
constexpr std::size_t kBeforeFigures = 2;

/// How wide a name of these parameters can become: `BM=128/BN=64`.
std::size_t longest_name(const Space& space, const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const Space::Mapping& mapping : space.mappings()) {
    std::size_t width = 0;
    for (const Parameter& parameter : mapping.parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) continue;
      std::size_t widest = 0;
      for (const Value& value : parameter.values) widest = std::max(widest, width_of(to_text(value)));
      width += width_of(parameter.name) + 1 + widest + (width > 0 ? 1 : 0);
    }
    longest = std::max(longest, width);
  }
  return longest;
}

}  // namespace

std::size_t SpecList::room_for_name() const {
  const auto width = static_cast<std::size_t>(look_.width);
  return look_.width == 0 ? std::string::npos : width - std::min(width, kNumberWidth);
}

std::string SpecList::begin(const BuildRow& first) {
  begun_ = true;
  in_all_ = constants_text(first.spec, look_);
  const std::size_t figures = width_of(build_figures(first));
  const std::size_t needed = longest_name(*space_, look_.varying) + (figures > 0 ? kBeforeFigures + figures : 0);
  values_only_ = needed > room_for_name() && !look_.varying.empty();
  if (!values_only_) return "";
  const std::string title = printable(fmt::format("{}", fmt::join(look_.varying, "/")), std::string::npos);
  return fmt::format(" mesh_idx {}\n", cut_to(title, room_for_name()));
}

std::string SpecList::add(const BuildRow& row) {
  std::string text = begun_ ? "" : begin(row);
  const std::string name = values_only_ ? values_text(row.spec, look_.varying) : list_name(row.spec, look_);
  const std::string shown = cut_to(printable(name, name.size()), room_for_name());
  const std::size_t taken = width_of(shown) + kBeforeFigures;
  const std::string figures = room_for_name() > taken ? build_figures(row, room_for_name() - taken) : "";
  text += fmt::format("{:>9} {}", row.spec.mesh_idx, shown);
  return text + (figures.empty() ? "" : std::string(kBeforeFigures, ' ') + figures) + "\n";
}

}  // namespace tune::report

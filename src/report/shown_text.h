#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/space.h"
#include "model/statistics/stats.h"

namespace tune::report {

/// A line of a message as it is shown: hidden characters are escaped, and what exceeds `limit` bytes is cut.
std::string printable(std::string_view line, std::size_t limit = 400);
/// The first line of a message, printable; `(no message)` if it is empty.
std::string first_line(std::string_view message);
/// Columns of a terminal that a UTF-8 text takes: none for what is combined with the character before it, two for the
/// wide characters of East Asian scripts and for emoji.
std::size_t width_of(std::string_view text);
/// The text, or as much of its beginning as fits into these columns, with `...` behind it where there is room for that.
std::string cut_to(std::string_view text, std::size_t columns);
/// The text in lines of at most so many columns (0: as many as it takes), broken at spaces; all but the first begin
/// with `indent` spaces. A word that is longer than a line stays whole, but for the settings of a spec
/// (`BM=128/BN=64`), and so does what stands in single quotes.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent);
/// A number with four significant digits: `0.9844`, `17.40`, `17450`, `1.745e+12`; `-` if it is not finite.
std::string four_digits(double value);
/// A whole number with all its digits, as counts and sizes in bytes are; else four_digits.
std::string whole_or_four_digits(double value);
/// Where a ratio lies: `0.994..1.004`, or `not known`.
std::string interval_text(const Interval& interval);
/// The parameters that do not have one value in the whole grid, in the order of the tuning file: a spec is called after
/// its values of these.
std::vector<std::string> varying_parameters(const Space& space);
/// `BM=128/BN=64`: the settings named in `names`, in the spec's order.
std::string settings_text(const Spec& spec, std::span<const std::string> names);
/// `128/64`, the values of `names`, with `-` for a parameter that the spec's mapping of the grid lacks, and `''` for an
/// empty text.
std::string values_text(const Spec& spec, std::span<const std::string> names);

/// How text looks on a terminal that has colours.
struct Style {
  enum class Color { none, red, yellow, cyan };
  bool bold = false;
  Color color = Color::none;
};

inline constexpr Style kPlainStyle{};
inline constexpr Style kBestStyle{true, Style::Color::none};
inline constexpr Style kTieStyle{false, Style::Color::cyan};
inline constexpr Style kFailedStyle{false, Style::Color::red};
inline constexpr Style kWarningStyle{false, Style::Color::yellow};

/// The text with its hidden characters escaped, in that style if there are `colors`.
std::string styled(std::string_view text, Style style, bool colors);

}  // namespace tune::report

#pragma once
#include <string>
#include <string_view>

namespace tune::report {

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

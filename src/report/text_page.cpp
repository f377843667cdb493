#include "report/text_page.h"

#include <algorithm>

#include "model/values/escaped_text.h"
#include "report/shown_text.h"

namespace tune::report {
namespace {

constexpr std::size_t kRuleColumns = 80;
constexpr std::size_t kReasonIndent = 9;  ///< of what belongs to a reason

}  // namespace

void TextPage::row(std::string_view line, Style style) {
  text_ += styled(width_ == 0 ? std::string(line) : cut_to(line, width_), style, colors_) + '\n';
}

void TextPage::prose(std::string_view lines, std::size_t indent, Style style) {
  for (std::size_t end = 0; !lines.empty(); lines.remove_prefix(std::min(end + 1, lines.size()))) {
    end = std::min(lines.find('\n'), lines.size());
    const std::string line = with_escapes(lines.substr(0, end));
    if (width_ == 0 || width_of(line) <= width_)
      whole(line, style);
    else
      for (const std::string& part : wrapped(line, width_, std::min(indent, width_ / 4))) whole(part, style);
  }
}

void TextPage::whole(std::string_view line, Style style) { text_ += styled(line, style, colors_) + '\n'; }

void TextPage::command(const std::string& label, const std::string& words) {
  if (width_ == 0 || width_of(label) + 1 + width_of(words) <= width_) return whole(label + " " + words);
  whole(label);
  whole("    " + words);
}

void TextPage::rule() { whole(std::string(width_ == 0 ? kRuleColumns : std::min(width_, kRuleColumns), '-')); }

void TextPage::losses(const LossLines& lines) {
  using Kind = LossLine::Kind;
  for (const auto& [kind, text, failed] : lines) {
    if (kind == Kind::copied)
      whole(text);
    else
      prose(text, kind == Kind::heading ? 2 : kReasonIndent,
            failed && kind != Kind::detail ? kFailedStyle : kPlainStyle);
  }
}

}  // namespace tune::report

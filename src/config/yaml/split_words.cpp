#include "config/yaml/split_words.h"

#include <fmt/format.h>

namespace tune::config {
namespace {

constexpr std::string_view kOperators = "|&;<>()$`*?[]", kInDoubleQuotes = "$`", kBlanks = " \t\r\n";

enum class Reader { none, shell };

class Splitter {
 public:
  explicit Splitter(std::string_view text, Reader reader = Reader::none) : text_(text), reader_(reader) {}

  std::variant<Words, NeedsShell> split() {
    while (at_ < text_.size() && trouble_.empty()) step(text_[at_++]);
    if (trouble_.empty() && quote_ != '\0') trouble_ = fmt::format("a quote ({}) without an end", quote_);
    if (!trouble_.empty()) return NeedsShell{trouble_};
    end_word();
    return words_;
  }

 private:
  void step(char c) {
    if (quote_ != '\0' ? c == quote_ : c == '\'' || c == '"') {
      quote_ = quote_ == '\0' ? c : '\0';
      in_word_ = true;
    } else if (c == '\\' && quote_ != '\'' && at_ < text_.size()) {
      add(text_[at_++]);
    } else if (reader_ == Reader::shell && ends_command(c)) {
      trouble_ = c == '\n' ? "an end of a line" : fmt::format("an unquoted {}", c);
    } else if (quote_ == '\0' && kBlanks.find(c) != kBlanks.npos) {
      end_word();
    } else if (reader_ == Reader::none && is_of_shell(c)) {
      trouble_ = quote_ == '\0' ? fmt::format("an unquoted {}", c) : fmt::format("a {} outside single quotes", c);
    } else {
      add(c);
    }
  }

  bool is_of_shell(char c) const {
    if (quote_ == '\'') return false;
    if (quote_ == '"') return kInDoubleQuotes.find(c) != kInDoubleQuotes.npos;
    return kOperators.find(c) != kOperators.npos || (!in_word_ && (c == '~' || c == '#'));
  }

  /// `>&` and `&>` are of the command before them.
  bool ends_command(char c) const {
    if (quote_ != '\0') return false;
    const auto is_redirection = [&](std::size_t at) {
      return at < text_.size() && (text_[at] == '>' || text_[at] == '<');
    };
    if (c == '&') return !is_redirection(at_) && (at_ < 2 || !is_redirection(at_ - 2));
    return c == '|' ? at_ < 2 || text_[at_ - 2] != '>' : c == ';' || c == '\n' || (c == '#' && !in_word_);
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(word_);
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  Reader reader_;
  std::size_t at_ = 0;
  char quote_ = '\0';  ///< that is open
  bool in_word_ = false;
  std::string word_, trouble_;
  Words words_;
};

}  // namespace

std::variant<Words, NeedsShell> split_words(std::string_view text) { return Splitter(text).split(); }

std::optional<std::string> end_of_first_command(std::string_view text) {
  const auto split = Splitter(text, Reader::shell).split();
  const auto* end = std::get_if<NeedsShell>(&split);
  return end == nullptr ? std::nullopt : std::optional(end->what);
}

}  // namespace tune::config

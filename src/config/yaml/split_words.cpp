#include "config/yaml/split_words.h"

#include <fmt/format.h>

namespace tune::config {
namespace {

constexpr std::string_view kOperators = "|&;<>()$`*?[]", kInDoubleQuotes = "$`", kBlanks = " \t\r\n";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

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
    } else if (quote_ == '\0' && kBlanks.find(c) != kBlanks.npos) {
      end_word();
    } else if (is_of_shell(c)) {
      trouble_ = fmt::format("an unquoted {}", c);
    } else {
      add(c);
    }
  }

  bool is_of_shell(char c) const {
    if (quote_ == '\'') return false;
    if (quote_ == '"') return kInDoubleQuotes.find(c) != kInDoubleQuotes.npos;
    return kOperators.find(c) != kOperators.npos || (!in_word_ && (c == '~' || c == '#'));
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
  std::size_t at_ = 0;
  char quote_ = '\0';  ///< that is open
  bool in_word_ = false;
  std::string word_, trouble_;
  Words words_;
};

}  // namespace

std::variant<Words, NeedsShell> split_words(std::string_view text) { return Splitter(text).split(); }

}  // namespace tune::config

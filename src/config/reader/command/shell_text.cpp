#include "config/reader/command/shell_text.h"

#include <algorithm>
#include <string>

namespace tune::config {
namespace {

class ShellReader {
 public:
  explicit ShellReader(std::string_view text) : text_(text), standings_(text.size(), Standing::word) {}

  std::vector<Standing> read() {
    while (at_ < text_.size()) step();
    return std::move(standings_);
  }

 private:
  /// What began and has not ended yet.
  struct Frame {
    enum class Kind { command, double_quotes, backquotes, braces, arithmetic };
    Kind kind = Kind::command;
    int parentheses = 0;     ///< open ones within
    bool evaluates = false;  ///< the present simple command is `eval`
  };
  using Kind = Frame::Kind;

  Frame& top() { return frames_.back(); }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  /// Whether single quotes are signs like any other. A `$(...)` within double quotes has quotes of its own.
  bool within_double_quotes() const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend() && frame->kind != Kind::command; ++frame)
      if (frame->kind == Kind::double_quotes) return true;
    return false;
  }

  Standing standing() const {
    const Frame& frame = frames_.back();
    if (frame.kind == Kind::backquotes) return Standing::backquotes;
    if (frame.kind == Kind::double_quotes) return Standing::double_quotes;
    if (frame.kind != Kind::command) return Standing::expansion;
    return std::ranges::any_of(frames_, &Frame::evaluates) ? Standing::evaluated : Standing::word;
  }

  void take(std::size_t count, Standing standing) {
    for (; count > 0 && at_ < text_.size(); --count) standings_[at_++] = standing;
  }
  void take(std::size_t count = 1) { take(count, standing()); }

  void open(Kind kind, std::size_t length) {
    take(length);
    frames_.push_back({kind});
  }
  void close(std::size_t length) {
    take(length);
    if (frames_.size() > 1) frames_.pop_back();
  }

  void step() {
    const char c = text_[at_];
    if (c == '\\') return escape();
    if (c == '`') return top().kind == Kind::backquotes ? close(1) : open(Kind::backquotes, 1);
    if (top().kind == Kind::backquotes) return take();  // the next backquote ends them, whatever is within
    if (next_is("$((")) return open(Kind::arithmetic, 3);
    if (next_is("$(")) return open(Kind::command, 2);
    if (next_is("${")) return open(Kind::braces, 2);
    if (c == '"') return top().kind == Kind::double_quotes ? close(1) : open(Kind::double_quotes, 1);
    if (c == '\'' && !within_double_quotes()) return single_quotes();
    switch (top().kind) {
      case Kind::braces:
        return c == '}' ? close(1) : take();
      case Kind::arithmetic:
        return arithmetic(c);
      case Kind::double_quotes:
        return take();
      default:
        return command(c);
    }
  }

  void escape() {
    take();
    take(1, standing() == Standing::word ? Standing::escaped : standing());
  }

  /// In `$'...'` some shells let a backslash keep a quote from ending it: there nothing behind is known.
  void single_quotes() {
    const std::size_t end = std::min(text_.find('\'', at_ + 1), text_.size());
    const bool dollar = at_ > 0 && text_[at_ - 1] == '$';
    const bool unclear = dollar && end > 0 && text_[end - 1] == '\\';
    take((unclear ? text_.size() : end + 1) - at_, Standing::single_quotes);
  }

  void arithmetic(char c) {
    if (top().parentheses == 0 && next_is("))")) return close(2);
    if (c == '(') ++top().parentheses;
    if (c == ')') --top().parentheses;
    take();
  }

  bool at_word_start() const { return at_ == 0 || separates_words(text_[at_ - 1]); }

  void command(char c) {
    if (c == '#' && at_word_start())
      return take(std::min(text_.find('\n', at_), text_.size()) - at_, Standing::comment);
    if (c == ')' && top().parentheses == 0 && frames_.size() > 1) return close(1);
    if (c == '(') ++top().parentheses;
    if (c == ')') --top().parentheses;
    if (std::string_view(";&|\n()").find(c) != std::string_view::npos) top().evaluates = false;
    if (next_is("eval") && at_word_start() && at_ + 4 < text_.size() && separates_words(text_[at_ + 4]))
      top().evaluates = true;
    if (next_is("<<") && !next_is("<<<")) return here_operator();
    take(next_is("<<<") ? 3 : 1);
    if (c == '\n') here_documents();
  }

  /// `<<WORD` or `<<-WORD`; quotes of the word are not part of it.
  void here_operator() {
    take(2);
    const bool tabs = at_ < text_.size() && text_[at_] == '-';
    if (tabs) take();
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) take();
    std::string word;
    while (at_ < text_.size() && !separates_words(text_[at_])) {
      if (std::string_view("'\"\\").find(text_[at_]) == std::string_view::npos) word += text_[at_];
      take();
    }
    awaited_.push_back({word, tabs});
  }

  void here_documents() {
    for (const auto& [word, tabs] : awaited_) {
      for (bool ended = false; !ended && at_ < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        while (tabs && line.starts_with('\t')) line.remove_prefix(1);
        ended = line == word;
        take(end + 1 - at_, Standing::here_document);
      }
    }
    awaited_.clear();
  }

  struct Awaited {
    std::string word;
    bool tabs;
  };

  std::string_view text_;
  std::vector<Standing> standings_;
  std::vector<Frame> frames_{1};
  std::vector<Awaited> awaited_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Standing> standings(std::string_view command) { return ShellReader(command).read(); }

bool separates_words(char c) { return std::string_view(" \t\n;&|()<>").find(c) != std::string_view::npos; }

}  // namespace tune::config

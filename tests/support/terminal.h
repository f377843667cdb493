#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

/// What a terminal of so many columns shows of what was written to it: lines, the cursor, and the escape sequences that
/// progress uses. It has no last row, and forgets nothing.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns) {}

  void write(const std::string& bytes);
  /// Without spaces at their ends.
  std::vector<std::string> lines() const;
  /// How often a line was broken because it was longer than the terminal is wide.
  int wraps() const { return wraps_; }
  /// Escape sequences that it does not know.
  const std::string& unknown() const { return unknown_; }

 private:
  void put(const std::string& character);
  std::size_t escape(const std::string& bytes, std::size_t at);
  std::vector<std::string>& row();

  std::size_t columns_;
  std::vector<std::vector<std::string>> rows_ = {{}};
  std::size_t y_ = 0, x_ = 0;
  int wraps_ = 0;
  std::string unknown_;
};

/// A run of `tune` whose stdout and stderr are a pseudo-terminal. It is killed with the object.
class InTerminal {
 public:
  /// TERM is `xterm` unless the sandbox's environment says something else. 0 columns: a terminal that does not tell.
  InTerminal(const Sandbox& sandbox, const std::vector<std::string>& arguments, unsigned short columns);
  /// A run of another program, to which $TUNE is `tune`.
  InTerminal(const Sandbox& sandbox, const std::string& program, const std::vector<std::string>& arguments,
             unsigned short columns);
  ~InTerminal();
  InTerminal(const InTerminal&) = delete;
  InTerminal& operator=(const InTerminal&) = delete;

  /// What it has written, once this part is there or it has ended.
  const std::string& until(const std::string& part);
  /// Makes the terminal wider or narrower.
  void resize(unsigned short columns);
  /// As Ctrl-C does.
  void interrupt();
  /// The user closes the terminal.
  void hang_up();
  /// Everything it wrote, once it has ended.
  const std::string& text();
  /// Its exit code, or 128 and the signal that ended it. It has ended then.
  int code();

 private:
  bool read_more();

  int terminal_ = -1;
  pid_t process_ = 0;
  bool reaped_ = false;
  int status_ = 0;
  std::string text_;
};

/// The text without escape sequences and carriage returns.
std::string without_escapes(const std::string& text);

}  // namespace tune::cli

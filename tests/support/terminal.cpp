#include "support/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <system_error>

namespace tune::cli {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t spawn(const Sandbox& sandbox, std::vector<std::string> words, int terminal) {
  std::vector<std::string> variables = {"PATH=" + std::string(std::getenv("PATH")), "TUNE=" TUNE_BIN_DIR "/tune"};
  for (const auto& [name, value] : sandbox.environment) variables.push_back(name + "=" + value);
  if (!sandbox.environment.contains("TERM")) variables.emplace_back("TERM=xterm");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(&actions, terminal, stream);
  ::posix_spawn_file_actions_addchdir_np(&actions, sandbox.folder().c_str());
  pid_t process = 0;
  const int error = ::posix_spawn(&process, words.front().c_str(), &actions, DefaultSignals().get(),
                                  pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + words.front());
  return process;
}

std::size_t bytes_of_character(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

std::vector<std::string>& Screen::row() {
  while (rows_.size() <= y_) rows_.emplace_back();
  return rows_[y_];
}

void Screen::put(const std::string& character) {
  if (x_ == columns_) {
    ++wraps_;
    ++y_;
    x_ = 0;
  }
  if (row().size() <= x_) row().resize(x_ + 1, " ");
  row()[x_++] = character;
}

// Returns how many bytes the sequence takes that begins here.
std::size_t Screen::escape(const std::string& bytes, std::size_t at) {
  static const std::regex kSequence("^\x1b\\[([0-9;]*)([A-Za-z])");
  std::smatch match;
  const std::string rest = bytes.substr(at, 32);
  if (!std::regex_search(rest, match, kSequence)) {
    unknown_ += rest;
    return 1;
  }
  const char command = *match[2].first;
  if (command == 'A') {
    y_ -= std::min<std::size_t>(y_, match[1].length() == 0 ? 1 : std::stoul(match[1].str()));
  } else if (command == 'K') {
    row().resize(std::min(row().size(), x_));
  } else if (command != 'm') {
    unknown_ += match[0];
  }
  return static_cast<std::size_t>(match.length(0));
}

void Screen::write(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] == '\r') {
      x_ = 0;
      ++at;
    } else if (bytes[at] == '\n') {
      ++y_;
      x_ = 0;
      row();
      ++at;
    } else if (bytes[at] == '\x1b') {
      at += escape(bytes, at);
    } else {
      put(bytes.substr(at, bytes_of_character(bytes[at])));
      at += bytes_of_character(bytes[at]);
    }
  }
}

std::vector<std::string> Screen::lines() const {
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    for (const std::string& character : row) line += character;
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

InTerminal::InTerminal(const Sandbox& sandbox, const std::vector<std::string>& arguments, unsigned short columns)
    : InTerminal(sandbox, TUNE_BIN_DIR "/tune", arguments, columns) {}

InTerminal::InTerminal(const Sandbox& sandbox, const std::string& program, const std::vector<std::string>& arguments,
                       unsigned short columns) {
  int slave = -1;
  winsize size{40, columns, 0, 0};
  if (::openpty(&terminal_, &slave, nullptr, nullptr, &size) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot open a pseudo-terminal");
  ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  process_ = spawn(sandbox, std::move(words), slave);
  ::close(slave);
}

InTerminal::~InTerminal() {
  if (!reaped_) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status_, 0);
  }
  hang_up();
}

// Reading fails once nobody has the other side open any more.
bool InTerminal::read_more() {
  std::array<char, 4096> buffer{};
  const ssize_t count = terminal_ < 0 ? -1 : ::read(terminal_, buffer.data(), buffer.size());
  if (count <= 0) return false;
  text_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

const std::string& InTerminal::until(const std::string& part) {
  while (text_.find(part) == std::string::npos && read_more()) continue;
  return text_;
}

void InTerminal::resize(unsigned short columns) {
  const winsize size{40, columns, 0, 0};
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

void InTerminal::interrupt() { ::kill(process_, SIGINT); }

void InTerminal::hang_up() {
  if (terminal_ >= 0) ::close(terminal_);
  terminal_ = -1;
}

const std::string& InTerminal::text() {
  while (read_more()) continue;
  return text_;
}

int InTerminal::code() {
  text();
  if (!reaped_) ::waitpid(process_, &status_, 0);
  reaped_ = true;
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string without_escapes(const std::string& text) {
  static const std::regex kEscapes("\x1b\\[[0-9;]*[A-Za-z]|\r");
  return std::regex_replace(text, kEscapes, "");
}

}  // namespace tune::cli

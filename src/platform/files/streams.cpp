#include "platform/files/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "model/values/escaped_text.h"

namespace tune::platform {
namespace {

// Why stdout takes no more text, or 0. stdio itself remembers that it does not, but not why.
int stdout_error = 0;

bool note(bool written) {
  if (!written && stdout_error == 0) stdout_error = errno != 0 ? errno : EIO;
  return stdout_error == 0;
}

}  // namespace

// A closed standard stream would give its number to the next pipe, and a worker would talk into it.
void open_standard_streams() {
  int descriptor = -1;
  do descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);  // a call that fails says more
}

bool print(std::string_view text) { return print_escaped(with_escapes(text)); }

bool print_escaped(std::string_view text) {
  return stdout_error == 0 && note(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_results() {
  if (stdout_error == 0) note(std::fflush(stdout) == 0);
}

bool results_arrived() {
  flush_results();
  if (stdout_error == 0 || stdout_error == EPIPE) return true;
  print_to_stderr(fmt::format("tune: error: cannot write the results to stdout: {}", std::strerror(stdout_error)));
  return false;
}

void print_to_stderr(std::string_view line) {
  const std::string text = line_with_escapes(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tune::platform

#include "platform/process/interrupts.h"

#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <initializer_list>

namespace tune::platform {
namespace {

// Only what a handler may call.
extern "C" void end_by(int signal) {
  const iovec line[] = {{const_cast<char*>(kInterrupted), std::strlen(kInterrupted)}, {const_cast<char*>("\n"), 1}};
  [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, line, 2);  // nobody is left to complain to
  ::_exit(128 + signal);
}

}  // namespace

void end_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = end_by;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace tune::platform

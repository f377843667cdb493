#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "base/log.h"
#include "exec/runner.h"
#include "model/error.h"
#include "run.h"

namespace {

// Every problem of a text on a line of its own, so that scripts can grep for the prefix.
void print_error(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) fmt::print(stderr, "tune: error: {}\n", line);
}

// A closed standard stream would give its number to the next pipe, and a worker would talk into it.
void open_standard_streams() {
  int descriptor = -1;
  do descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    const auto options = tune::parse_options(argc, argv);
    if (!options) return 0;
    if (options->verbose) tune::log_verbosely();
    return static_cast<int>(tune::run(*options));
  } catch (const tune::Error& error) {
    print_error(error.what());
    return static_cast<int>(error.code());
  } catch (const tune::Interrupted& interrupted) {
    fmt::print(stderr, "tune: interrupted; the same command continues from here\n");
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    print_error(std::string("unexpected: ") + error.what());
    return static_cast<int>(tune::ExitCode::environment);
  }
}

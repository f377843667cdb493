#include "platform/process/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tune::platform {
namespace {

constexpr int kUsualColumns = 80;

}  // namespace

int terminal_columns(int descriptor) {
  if (::isatty(descriptor) == 0) return 0;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* asked = std::getenv("COLUMNS");
  const int columns = asked != nullptr ? std::atoi(asked) : 0;
  return columns > 0 ? columns : kUsualColumns;
}

bool takes_escapes(int descriptor) {
  const char* type = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && type != nullptr && *type != '\0' && std::string_view(type) != "dumb";
}

}  // namespace tune::platform

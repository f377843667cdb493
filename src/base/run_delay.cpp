#include "base/run_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace tune::base {

RunDelay::RunDelay(const std::string& file) : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}

bool RunDelay::is_known() const { return static_cast<bool>(file_); }

double RunDelay::seconds() const {
  std::array<char, 128> text{};
  unsigned long long running = 0, waiting = 0;
  if (!file_ || ::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  if (std::sscanf(text.data(), "%llu %llu", &running, &waiting) != 2) return 0;
  return 1e-9 * static_cast<double>(waiting);
}

}  // namespace tune::base

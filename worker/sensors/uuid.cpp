#include "sensors/uuid.h"

#include <fmt/format.h>

namespace tune::worker {

std::string uuid_text(const std::string& prefix, const Uuid& uuid) {
  std::string text = prefix;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace tune::worker

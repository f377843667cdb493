#include "platform/files/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "model/values/escaped_text.h"

namespace tune::platform {

void log_verbosely() {
  auto logger = spdlog::stderr_logger_st("tune");
  logger->set_pattern("%H:%M:%S.%e %v");
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_level(spdlog::level::debug);
}

void log(std::string_view text) { spdlog::debug(line_with_escapes(text)); }

}  // namespace tune::platform

#include "database/lookup_text.h"

#include <fmt/format.h>

#include "database/database_key.h"

namespace tune::database {
namespace {

constexpr const char* kHow[] = {"exact", "key", "rule"};
constexpr const char* kDevices[] = {"same", "alias", "architecture", "other"};

}  // namespace

std::string write_found(const Found& found) {
  config::Node node = config::make_mapping({});
  node.set("match", config::make_scalar(kHow[static_cast<int>(found.how)], {}));
  node.set("device_match", config::make_scalar(kDevices[static_cast<int>(found.device)], {}));
  set_key(node, *found.group, found.sizes);
  set_configuration(node, found.configuration);
  node.find("params")->flow = false;
  if (found.result != nullptr) {
    node.set("time_ms", config::make_scalar(fmt::format("{:.6g}", found.result->time.seconds * 1e3), {}));
    if (!found.result->checked) node.set("checked", config::make_scalar("no", {}));
    set_text(node, "date", found.result->date);
  }
  return config::to_yaml(node);
}

}  // namespace tune::database

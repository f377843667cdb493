#include "config/lookup_text.h"

#include <fmt/format.h>

#include "config/database_key.h"

namespace tune::config {
namespace {

constexpr const char* kHow[] = {"exact", "key", "rule"};
constexpr const char* kDevices[] = {"same", "alias", "architecture", "other"};

}  // namespace

std::string write_found(const Found& found) {
  Node node = make_mapping({});
  node.set("match", make_scalar(kHow[static_cast<int>(found.how)], {}));
  node.set("device_match", make_scalar(kDevices[static_cast<int>(found.device)], {}));
  set_key(node, *found.group, found.sizes);
  set_configuration(node, found.configuration);
  node.find("params")->flow = false;
  if (found.result != nullptr) {
    node.set("time_ms", make_scalar(fmt::format("{:.6g}", found.result->seconds * 1e3), {}));
    if (!found.result->checked) node.set("checked", make_scalar("no", {}));
    set_text(node, "date", found.result->date);
  }
  return to_yaml(node);
}

}  // namespace tune::config

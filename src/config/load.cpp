#include "config/load.h"

#include "config/interpreter.h"
#include "config/source.h"

namespace tune::config {

Loaded load(std::span<const std::filesystem::path> yamls, const LoadOptions& options) {
  Problems problems;
  Source source = read_source(yamls, problems);
  apply_overrides(options, source.root, problems);
  Plan plan = Interpreter(source, options, problems).run();
  plan.yaml = std::filesystem::absolute(yamls.front()).lexically_normal();
  return {std::move(plan), std::move(source)};
}

std::optional<Backend> parse_backend(std::string_view text) {
  for (const Backend backend : {Backend::automatic, Backend::cuda, Backend::hip, Backend::cpu, Backend::program}) {
    if (to_text(backend) == text) return backend;
  }
  return {};
}

}  // namespace tune::config

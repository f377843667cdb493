#include "support.h"

#include "backend.h"
#include "model/support.h"

namespace tune {

void require_supported(const Problem& problem, Backend backend, Stage stage) {
  if (std::holds_alternative<std::monostate>(problem)) throw Refusal(stage, "a kernel needs a `problem`");
  if (const auto what = unsupported(problem, backend)) throw Refusal(stage, *what);
}

}  // namespace tune

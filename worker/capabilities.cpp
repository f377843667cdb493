#include "capabilities.h"

#include "backend.h"
#include "model/support.h"

namespace tune::worker {

void require_supported(const Problem& problem, Backend backend, Stage stage) {
  if (std::holds_alternative<std::monostate>(problem)) throw SpecFailure(stage, "a kernel needs a `problem`");
  if (const auto what = unsupported(problem, backend)) throw SpecFailure(stage, *what);
}

wire::MeasureRequest measure_request(const wire::ReferenceRequest& request) {
  wire::MeasureRequest result;
  result.artifact = request.artifact;
  result.problem = request.problem;
  result.launches = request.launches;
  result.workspace_bytes = request.workspace_bytes;
  result.zero_workspace = request.zero_workspace;
  result.seed = request.seed;
  return result;
}

}  // namespace tune::worker

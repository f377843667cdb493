#include "capabilities.h"

#include "backend.h"
#include "model/support.h"

namespace tune::worker {

void require_supported(const Problem& problem, Backend backend, Stage stage) {
  if (std::holds_alternative<std::monostate>(problem)) throw SpecFailure(stage, "a kernel needs a `problem`");
  if (const auto what = unsupported(problem, backend)) throw SpecFailure(stage, *what);
}

const wire::KernelRun& kernel_run(const wire::MeasureRequest& request) {
  if (const wire::KernelRun* run = request.kernel()) return *run;
  throw SpecFailure(Stage::load, "this worker launches kernels; programs are run by another one");
}

wire::MeasureRequest measure_request(const wire::ReferenceRequest& request) {
  wire::MeasureRequest result;
  result.artifact = request.artifact;
  result.problem = request.problem;
  result.what = wire::KernelRun{request.launches, request.workspace_bytes, request.zero_workspace, false};
  result.seed = request.seed;
  result.measure.strict = request.strict;
  return result;
}

}  // namespace tune::worker

#include "commands/tune/launched_row.h"

#include <algorithm>

#include "exec/request/spec_launches.h"

namespace tune::commands {

report::BuildRow launched_row(Spec spec, const exec::RequestFactory& requests) {
  report::BuildRow row{std::move(spec), {}, {}, {}};
  try {
    for (const wire::KernelLaunch& launch : requests.kernel_run(row.spec).launches)
      if (!launch.block.empty()) row.dynamic = std::max(row.dynamic.value_or(0), launch.shared);
  } catch (const exec::Unlaunchable& error) {
    row.loss = Failure{Stage::start, Cause::reported, error.what(), {}};
  }
  return row;
}

}  // namespace tune::commands

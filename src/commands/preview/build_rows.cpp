#include "commands/preview/build_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include "platform/process/terminal.h"
#include "report/shown_text.h"

namespace tune::commands {

void judge(report::BuildRow& row, exec::MeasureService& service) {
  if (row.loss) return;
  const exec::Builder::Result* result = service.builds().find(row.spec);
  if (result == nullptr) return;
  if (const auto* failure = std::get_if<Failure>(result)) {
    row.loss = *failure;
    return;
  }
  const auto& artifact = std::get<exec::Artifact>(*result);
  row.info = service.builds().info_of(row.spec, artifact);
  if (auto reason = service.requests().pruned_after_build(row.spec, row.info))
    row.loss = PrunedAfterBuild{std::move(*reason), row.info};
  else if (auto fault = service.builds().launch_fault(service.requests().kernel_run(row.spec).launches, artifact))
    row.loss = Failure{Stage::load, Cause::reported, std::move(*fault), {}};
}

std::optional<std::string> reference_fault(const Spec& spec, exec::MeasureService& service) {
  const std::string name = service.reference().name();
  const exec::Builder::Result* result = service.builds().find_reference(spec);
  if (result == nullptr) return std::nullopt;
  if (const auto* failure = std::get_if<Failure>(result)) {
    const auto* of_spec = service.builds().find(spec);
    const Failure* same = of_spec != nullptr ? std::get_if<Failure>(of_spec) : nullptr;
    const bool is_said = same != nullptr && same->headline() == failure->headline();
    return fmt::format("{} cannot be built{}: {}", name, is_said ? " either" : "",
                       is_said ? fmt::format("it has the error of spec {}", spec.mesh_idx) : failure->headline());
  }
  const auto launches = service.requests().reference(spec).launches;
  const auto fault = service.builds().launch_fault(launches, std::get<exec::Artifact>(*result));
  if (!fault) return std::nullopt;
  return fmt::format("{} cannot be launched: {}", name, *fault);
}

bool builds_reference(const Plan& plan) { return std::holds_alternative<Custom>(plan.problem) && !plan.is_program(); }

report::ListLook list_look(const SharedOptions& options, const Plan& plan) {
  return {plan.name, report::varying_parameters(plan.space), platform::terminal_columns(STDOUT_FILENO),
          wants_colors(options.terminal, STDOUT_FILENO)};
}

std::vector<Trial> lost_in(std::span<const report::BuildRow> rows) {
  std::vector<Trial> lost;
  for (const report::BuildRow& row : rows)
    if (row.loss) lost.push_back({row.spec, *row.loss});
  return lost;
}

}  // namespace tune::commands

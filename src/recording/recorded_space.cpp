#include "recording/recorded_space.h"

#include <set>

#include "model/values/error.h"

namespace tune::recording {

Space space_of(const Recording& recording) {
  Names names;
  std::vector<Value> fixed;
  for (const Parameter& parameter : recording.parameters) {
    names.declare(parameter.name);
    fixed.push_back(std::int64_t{0});
  }
  for (const RecordedTrial& trial : recording.trials)
    if (trial.settings.size() != recording.parameters.size())
      throw Error(ExitCode::bad_input, recording.file +
                                           ": its specs do not all have the same parameters, so that the "
                                           "recording alone is no space; give the tuning file with --yaml");
  return {std::move(names), std::move(fixed), {{recording.parameters, {}, {}}}};
}

Space space_of(const wire::ResultsRecord& results) {
  std::vector<Space::Mapping> mappings;
  for (const std::vector<Parameter>& parameters : results.mappings) mappings.push_back({parameters, {}, {}});
  return {Names(), {}, std::move(mappings)};
}

std::vector<Space::Point> points_of(const Recording& recording, const Space& space) {
  std::vector<Space::Point> points;
  for (const RecordedTrial& trial : recording.trials)
    if (auto point = space.point(Spec{-1, trial.settings})) points.push_back(std::move(*point));
  return points;
}

std::vector<std::string> figures_of(const Recording& recording) {
  std::set<std::string> names;
  for (const RecordedTrial& trial : recording.trials)
    if (const auto* measurement = std::get_if<Measurement>(&trial.outcome))
      for (const auto& [name, value] : measurement->metrics) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace tune::recording

#include "tuning/stored_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/reader/load.h"
#include "config/recorded/best_yaml.h"
#include "exec/request/spec_launches.h"
#include "model/problem_size.h"
#include "model/values/error.h"
#include "platform/files/file.h"
#include "tuning/contenders.h"

namespace tune::tuning {
namespace fs = std::filesystem;
namespace {

/// Why the winner of a best.yaml cannot be timed as it was built then.
class NotStored : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string problem_of(const Plan& plan) { return problem_size_text(plan.problem, plan.constants); }

/// The best.yaml as the tuning file of its one spec: its launch is that of then.
config::Loaded load_then(const fs::path& file, const Device& device) {
  config::LoadRules rules;
  rules.file_must_exist = false;
  rules.probe = [&](Backend) { return device; };
  return config::load(std::array{file}, rules);
}

/// The spec where it is in the grid, so that its metrics can be computed; else one without parameters.
Spec spec_in(const Space& space, const Spec& spec) try {
  const auto point = space.at(std::span(spec.params));
  const auto* found = std::get_if<Spec>(&point);
  return found != nullptr ? *found : Spec{};
} catch (const std::invalid_argument&) {
  return {};
}

/// What a baseline of the tuning file says of a build; nullopt: nothing, as that of a program that is not built.
std::optional<config::RecordedBest> built_best(const fs::path& file) try {
  if (file.empty()) return std::nullopt;
  config::RecordedBest best = config::read_best(file);
  return best.result.artifact_hash.empty() ? std::nullopt : std::optional(std::move(best));
} catch (const Error&) {
  return std::nullopt;  // it has parameters, and no result
}

/// A key and a name: no path that leads out of the store.
bool is_in_store(const fs::path& path) {
  const std::string key = path.parent_path().string();
  return path.has_filename() && !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool names_artifact(const config::RecordedResult& result) {
  return !result.artifact_hash.empty() && is_in_store(result.store_path);
}

bool is_stored(const config::RecordedResult& result, const platform::StorePlaces& store) {
  return std::ranges::any_of(std::array{store.folder, store.base}, [&](const fs::path& folder) {
    std::error_code ignored;
    return !folder.empty() && fs::exists(folder / result.store_path, ignored);
  });
}

void require_artifact(const config::RecordedResult& result, const platform::StorePlaces& store) {
  if (!names_artifact(result)) throw NotStored("the file names no artifact in the build store");
  if (!is_stored(result, store))
    throw NotStored("its artifact is not in the build store any more (" + result.store_path.string() + ")");
}

wire::Contender stored_contender(const config::RecordedBest& best, const fs::path& file, const std::string& label,
                                 const exec::RequestFactory& requests, const platform::StorePlaces& store) try {
  const Plan& plan = requests.plan();
  const Device& device = requests.hello().device;
  if (best.result.device != device.name) throw NotStored("it is of the device " + best.result.device);
  if (best.result.arch != device.arch) throw NotStored("it was built for " + best.result.arch);
  if (best.problem != problem_of(plan)) throw NotStored("it is of the problem " + best.problem);
  require_artifact(best.result, store);
  config::Loaded then = load_then(file, device);
  if (then.plan.backend() != plan.backend())
    throw NotStored("it is of the backend " + std::string(to_text(then.plan.backend())));
  // Its own source may be gone, and nothing is built.
  if (then.plan.candidates.empty()) then.plan.file = plan.file;
  then.plan.build = plan.build;
  wire::MeasureRequest request = exec::RequestFactory(then.plan, requests.hello(), requests.seed()).measure(best.spec);
  request.measure = plan.measure;
  wire::Contender contender{{spec_in(plan.space, best.spec), Entrant::Kind::baseline, label}};
  contender.stored = {best.result.store_path.parent_path().string(), best.result.artifact_hash, std::move(request)};
  contender.code = exec::Identity::of_measuring(best.result.artifact_hash, contender.stored->request,
                                                device_settings(contender.entrant.spec));
  return contender;
} catch (const Error& error) {
  throw NotStored(error.what());
} catch (const exec::Unlaunchable& error) {
  throw NotStored(error.what());
}

}  // namespace

std::string label_of_named(const Plan& plan, const fs::path& named) {
  const std::string name = named.filename().string();
  const bool is_taken = name == plan.yaml.filename().string() ||
                        std::ranges::find(plan.baselines, name, &Baseline::label) != plan.baselines.end();
  return is_taken ? named.string() : name;
}

bool names_artifact(const fs::path& named) {
  const auto best = built_best(named);
  return best && names_artifact(best->result);
}

void require_stored(const fs::path& named, const platform::StorePlaces& store) {
  const auto best = built_best(named);
  if (!best || !names_artifact(best->result) || is_stored(best->result, store)) return;
  throw Error(
      ExitCode::environment,
      fmt::format("{}: its artifact is not in the build store any more ({}), and its recorded times do not tell "
                  "what became slower; give the store of that run with --store, or tune the old source here "
                  "again",
                  named.string(), best->result.store_path.string()));
}

std::vector<wire::Contender> stored_baselines(const exec::RequestFactory& requests, const platform::StorePlaces& store,
                                              const std::optional<fs::path>& named, results::Notices& notes) {
  std::vector<wire::Contender> contenders;
  const auto add = [&](const config::RecordedBest& best, const fs::path& file, const std::string& label,
                       const std::string& otherwise) {
    try {
      contenders.push_back(stored_contender(best, file, label, requests, store));
    } catch (const NotStored& why) {
      notes.add_of_baseline(label, otherwise + why.what());
    }
  };
  for (const Baseline& baseline : requests.plan().baselines)
    if (const auto best = built_best(baseline.file))
      add(*best, baseline.file, baseline.label, "its parameters were timed in the present source: ");
  if (named && platform::is_yaml(*named))
    add(config::read_best(*named), *named, label_of_named(requests.plan(), *named),
        "only what was recorded of it is compared, because what was built for it cannot be timed again: ");
  return contenders;
}

}  // namespace tune::tuning

#include "flow/artifact_copy.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/streams.h"
#include "model/values/error.h"
#include "model/values/shown.h"

namespace tune::flow {
namespace fs = std::filesystem;
namespace {

// A program is to be started, and other tools start what the file's permissions allow.
void keep_executable(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  const auto has = [&](const fs::path& file, fs::perms right) {
    return (fs::status(file, ignored).permissions() & right) != fs::perms::none;
  };
  if (!has(from, fs::perms::owner_exec)) return;
  fs::perms added = fs::perms::owner_exec;
  if (has(to, fs::perms::group_read)) added |= fs::perms::group_exec;
  if (has(to, fs::perms::others_read)) added |= fs::perms::others_exec;
  fs::permissions(to, added, fs::perm_options::add, ignored);
}

/// Builds it if it must.
exec::Artifact artifact_of(exec::MeasureService& service, const Spec& spec) {
  const exec::Builder::Result* result = service.builds().find_intact(spec);
  if (result == nullptr) {
    service.finish_builds();
    result = service.builds().find_intact(spec);
  }
  const auto* artifact = result != nullptr ? std::get_if<exec::Artifact>(result) : nullptr;
  if (artifact != nullptr) return *artifact;
  const auto* failure = result != nullptr ? std::get_if<Failure>(result) : nullptr;
  throw Error(ExitCode::environment,
              "--artifact: the build store has the best spec's artifact no longer, and it cannot be built again: " +
                  (failure != nullptr ? failure->headline() : "the artifact changes while it is read"));
}

}  // namespace

void copy_artifact(exec::MeasureService& service, const Trial& trial, const fs::path& file) {
  const exec::Artifact artifact = artifact_of(service, trial.spec);
  std::error_code ignored;  // writing says why
  fs::create_directories(file.parent_path(), ignored);
  base::write_file(file, base::read_file(artifact.path));
  keep_executable(artifact.path, file);
  const bool same = artifact.info.artifact_hash == trial.measurement()->build.artifact_hash;
  base::print(fmt::format("artifact: {}{}\n", shown_line(file.string()),
                          same ? "" : " (built again, with other bytes than those that were timed)"));
}

}  // namespace tune::flow

#include "tuning/artifact_copy.h"

#include <fmt/format.h>

#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"

namespace tune::tuning {
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

exec::Artifact artifact_of(exec::Executor& executor, const Spec& spec) try {
  return executor.artifact(spec);
} catch (const Error& error) {
  throw Error(error.code(), std::string("--artifact: ") + error.what());
}

}  // namespace

void copy_artifact(exec::Executor& executor, const Trial& trial, const fs::path& file) {
  const exec::Artifact artifact = artifact_of(executor, trial.spec);
  std::error_code ignored;  // writing says why
  fs::create_directories(file.parent_path(), ignored);
  platform::write_file(file, platform::read_file(artifact.path));
  keep_executable(artifact.path, file);
  const bool same = artifact.info.artifact_hash == trial.measurement()->build.artifact_hash;
  platform::print(fmt::format("artifact: {}{}\n", line_with_escapes(file.string()),
                              same ? "" : " (built again, with other bytes than those that were timed)"));
}

}  // namespace tune::tuning

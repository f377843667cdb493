#include "exec/build/kept_files.h"

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::exec {
namespace fs = std::filesystem;

void keep_files(const fs::path& folder, const std::vector<fs::path>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const fs::path& file : files)
    if (!error && !file.empty())
      fs::copy_file(file, folder / file.filename(), fs::copy_options::overwrite_existing, error);
  if (error) throw Error(ExitCode::environment, "cannot keep files in " + folder.string() + ": " + error.message());
}

void keep_files(const fs::path& folder, const fs::path& artifact, const fs::path& source, const Failure& failure) {
  keep_files(folder, {artifact, source});
  platform::write_file(folder / "log.txt", failure.message + "\n" + failure.log);
}

}  // namespace tune::exec

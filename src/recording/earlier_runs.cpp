#include "recording/earlier_runs.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "model/values/error.h"
#include "platform/files/file.h"
#include "platform/files/user_folders.h"

namespace tune::recording {
namespace fs = std::filesystem;
namespace {

fs::path file_of_last() {
  const fs::path folder = platform::state_folder();
  return folder.empty() ? fs::path() : folder / "last-run";
}

}  // namespace

void note_last_run(const fs::path& journal) try {
  const fs::path file = file_of_last();
  if (file.empty()) return;
  platform::write_file(file, fs::absolute(journal).lexically_normal().string() + "\n");
} catch (const Error&) {
}

std::optional<fs::path> last_run() {
  std::error_code ignored;
  if (const fs::path file = file_of_last(); !file.empty() && fs::is_regular_file(file, ignored)) {
    std::string name = platform::read_file(file);
    while (name.ends_with('\n')) name.pop_back();
    if (fs::is_regular_file(name, ignored)) return name;
  }
  const std::vector<EarlierRun> runs = earlier_runs();
  return runs.empty() ? std::nullopt : std::optional(runs.front().journal);
}

std::vector<EarlierRun> earlier_runs() {
  std::vector<EarlierRun> runs;
  const fs::path folder = platform::state_folder();
  std::error_code ignored;
  if (folder.empty()) return runs;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".jsonl" && entry.is_regular_file(ignored))
      runs.push_back(
          {entry.path(), entry.last_write_time(ignored), static_cast<std::int64_t>(entry.file_size(ignored))});
  std::ranges::sort(runs, std::ranges::greater(), &EarlierRun::changed);
  return runs;
}

}  // namespace tune::recording

#include "platform/process/run_delay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace tune::platform {

RunDelay::RunDelay(const std::string& file) : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}

bool RunDelay::is_known() const { return static_cast<bool>(file_); }

RunDelay::Times RunDelay::read() const {
  std::array<char, 128> text{};
  Times times;
  if (!file_ || ::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0) return {};
  if (std::sscanf(text.data(), "%llu %llu", &times.running, &times.waiting) != 2) return {};
  return times;
}

double delay_of_this_thread() { return RunDelay("/proc/thread-self/schedstat").seconds(); }

// Threads come and go seldom, and the number of links of the folder tells how many there are.
void ThreadDelays::list() {
  struct stat status {};
  const std::string folder = fmt::format("/proc/{}/task", process_);
  if (::stat(folder.c_str(), &status) != 0 || status.st_nlink == count_) return;
  count_ = status.st_nlink;
  std::map<pid_t, Thread> present;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const pid_t id = std::atoi(entry->path().filename().c_str());
    if (auto known = threads_.extract(id))
      present.insert(std::move(known));
    else
      present.emplace(id, Thread{RunDelay(entry->path() / "schedstat")});
  }
  threads_ = std::move(present);
}

std::vector<pid_t> ThreadDelays::threads() const {
  std::vector<pid_t> ids = {process_};
  for (const auto& [id, thread] : threads_)
    if (id != process_) ids.push_back(id);
  return ids;
}

double ThreadDelays::others_since_last() {
  list();
  std::uint64_t sum = 0;
  for (auto& [id, thread] : threads_) {
    const std::uint64_t now = thread.delay.nanoseconds(), last = std::exchange(thread.last, now);
    if (id != process_) sum += now - std::min(now, last);
  }
  return 1e-9 * static_cast<double>(sum);
}

}  // namespace tune::platform

#include "platform/process/descendants.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace tune::platform {
namespace {

constexpr int kPasses = 100;  // in a row, after orphans of orphans
constexpr std::chrono::microseconds kFirstPause(50),
    kLongestPause(1000);  // a small process is gone in a fraction of a ms
constexpr auto kLimit = std::chrono::seconds(1);

/// The processes that this program started itself and has not reaped, in whichever thread.
class StartedChildren {
 public:
  void add(pid_t process) {
    const std::lock_guard lock(mutex_);
    processes_.insert(process);
  }
  void remove(pid_t process) {
    const std::lock_guard lock(mutex_);
    processes_.erase(process);
  }
  bool contains(pid_t process) const {
    const std::lock_guard lock(mutex_);
    return processes_.contains(process);
  }

 private:
  mutable std::mutex mutex_;
  std::set<pid_t> processes_;
};

StartedChildren& started_children() {
  static StartedChildren children;
  return children;
}

/// The entries of a folder of /proc that are numbers.
std::vector<pid_t> numbers_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  std::vector<pid_t> numbers;
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (const int number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  return numbers;
}

struct Status {
  char state = 'X';
  pid_t parent = 0;
  double ticks = 0;  ///< for which it and what it has reaped have computed
};

Status status_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  Status status;
  // The name, in brackets, may hold anything.
  const auto name_end = text.rfind(") ");
  if (name_end == std::string::npos) return status;
  std::istringstream fields(text.substr(name_end + 2));
  fields >> status.state >> status.parent;
  std::string skipped;
  for (int i = 0; i < 9; ++i) fields >> skipped;
  double own_user = 0, own_system = 0, reaped_user = 0, reaped_system = 0;
  if (fields >> own_user >> own_system >> reaped_user >> reaped_system)
    status.ticks = own_user + own_system + reaped_user + reaped_system;
  return status;
}

/// As the system has it, cut to 15 characters.
std::string name_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name.empty() ? "?" : name;
}

bool runs(pid_t process) {
  const char state = status_of(process).state;
  return state != 'Z' && state != 'X';
}

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> all = {root};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const pid_t child : children_of(all[i]))
      if (std::ranges::find(all, child) == all.end()) all.push_back(child);
  all.erase(all.begin());
  return all;
}

/// What one pass over our children met.
struct Pass {
  bool reaped = false;  ///< so that its own children are ours now
  bool dying = false;
};

Pass end_orphans_once() {
  Pass pass;
  for (const pid_t child : children_of(::getpid())) {
    if (started_children().contains(child)) continue;
    const bool killed = ::kill(child, SIGKILL) == 0;  // not one that has become another user's
    const bool gone = ::waitpid(child, nullptr, WNOHANG) == child;
    pass.reaped = pass.reaped || gone;
    pass.dying = pass.dying || (killed && !gone);
  }
  return pass;
}

}  // namespace

bool adopt_orphans() {
  const bool first = children_of(::getpid()).empty();
  // Cleared where it is not for us: what the program before us had set outlives exec.
  return ::prctl(PR_SET_CHILD_SUBREAPER, first ? 1 : 0, 0, 0, 0) == 0 && first;
}

bool adopts_orphans() {
  int set = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &set, 0, 0, 0) == 0 && set != 0;
}

StartedChild::StartedChild(pid_t process) : process_(process) { started_children().add(process); }
StartedChild::StartedChild(StartedChild&& other) noexcept : process_(std::exchange(other.process_, 0)) {}
StartedChild& StartedChild::operator=(StartedChild&& other) noexcept {
  std::swap(process_, other.process_);
  return *this;
}
StartedChild::~StartedChild() {
  if (process_ > 0) started_children().remove(process_);
}

std::vector<pid_t> search_children_of(pid_t process) {
  std::vector<pid_t> children = numbers_in("/proc");
  std::erase_if(children, [&](pid_t candidate) { return status_of(candidate).parent != process; });
  return children;
}

std::vector<pid_t> children_of(pid_t process) {
  // Most often it is this process, without any. If it reads its /proc entries, its parent needs 1 ms more to reap it.
  siginfo_t any{};
  if (process == ::getpid() && ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno == ECHILD)
    return {};
  static const bool listed = ::access("/proc/thread-self/children", R_OK) == 0;
  if (!listed) return search_children_of(process);
  const std::string tasks = "/proc/" + std::to_string(process) + "/task/";
  std::vector<pid_t> children;
  for (const pid_t thread : numbers_in(tasks)) {
    std::ifstream file(tasks + std::to_string(thread) + "/children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// The root comes last: what ends meanwhile is counted twice rather than not at all.
double computed_seconds_of_all(pid_t root) {
  double ticks = 0;
  for (const pid_t process : descendants_of(root)) ticks += status_of(process).ticks;
  ticks += status_of(root).ticks;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string running_orphan() {
  for (const pid_t child : children_of(::getpid()))
    if (!started_children().contains(child) && runs(child)) return name_of(child);
  return "";
}

bool end_orphans() {
  for (int i = 0; i < kPasses; ++i) {
    const Pass pass = end_orphans_once();
    if (!pass.reaped) return !pass.dying;
  }
  return false;
}

void end_descendants(pid_t root) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    bool any = false;
    for (const pid_t process : descendants_of(root)) any = (runs(process) && ::kill(process, SIGKILL) == 0) || any;
    if (!any || std::chrono::steady_clock::now() > end) return;
    std::this_thread::sleep_for(pause);
  }
}

void end_all_below_us() {
  if (adopts_orphans()) end_descendants(::getpid());
}

}  // namespace tune::platform

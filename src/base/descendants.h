#pragma once
#include <sys/types.h>

#include <vector>

namespace tune::base {

/// What was started from this process, directly or not, however far it went: a process that leaves its group and its
/// session, and whose parent ends, still comes back to the nearest process above it that adopts orphans.

/// From now on this process does. To be called before it starts any. False: it has children already, those of a shell
/// that became this program, whose orphans are not ours to end.
bool adopt_orphans();
bool adopts_orphans();

/// A child that we started ourselves: no orphan, for as long as this lives. Made and ended by one thread.
class StartedChild {
 public:
  StartedChild() = default;
  explicit StartedChild(pid_t process);
  StartedChild(StartedChild&& other) noexcept;
  StartedChild& operator=(StartedChild&& other) noexcept;
  ~StartedChild();

 private:
  pid_t process_ = 0;
};

/// The children of a process that were not reaped yet, in no order.
std::vector<pid_t> children_of(pid_t process);
/// The same among all processes, for a system that does not list them (CONFIG_PROC_CHILDREN).
std::vector<pid_t> search_children_of(pid_t process);

/// Kills what came to this process without being a StartedChild, and reaps it. True: none is left, or none that may be
/// killed; false: some are still dying, ask again.
bool end_orphans();

/// Kills all that is below `root`, but not `root` itself, until nothing of it runs or a second is over. `root` adopts
/// orphans, and starts nothing meanwhile.
void end_descendants(pid_t root);
/// The same below this process, for its last moment, if it adopts orphans.
void end_all_below_us();

}  // namespace tune::base

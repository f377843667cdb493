#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace tune::platform {

/// Finds and ends all descendants of this process. A process that has left its group and session, and whose parent has
/// exited, becomes a child of the nearest ancestor that adopts orphans.

/// Makes this process adopt orphans (PR_SET_CHILD_SUBREAPER). Call it before any child is started. Returns false if the
/// process already has children: those of a shell that replaced itself with this program, whose orphans are not ours to
/// kill.
bool adopt_orphans();
bool adopts_orphans();

/// A child that we started ourselves, and which is not an orphan as long as this object lives. In a program that adopts
/// orphans all these objects must be made and destroyed by one thread: to another one a child is an orphan until then.
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

/// The children of a process that have not been reaped yet, in no particular order.
std::vector<pid_t> children_of(pid_t process);
/// Finds these children among all processes, for a system that does not list them (without CONFIG_PROC_CHILDREN).
std::vector<pid_t> search_children_of(pid_t process);

/// The seconds for which a process, its descendants and those of them that have ended and been reaped have computed.
double computed_seconds_of_all(pid_t root);

/// The name of a child of this process that is not a StartedChild and runs; empty if there is none.
std::string running_orphan();

/// Kills and reaps the children of this process that are not a StartedChild. Returns true if none is left, or only
/// those that we may not kill; false if some are still dying, so that it must be called again.
bool end_orphans();

/// Kills all descendants of `root`, but not `root` itself, until none of them runs or a second has passed. `root` must
/// adopt orphans, and must not start anything meanwhile.
void end_descendants(pid_t root);
/// Kills all descendants of this process, which is about to end, if it adopts orphans.
void end_all_below_us();

}  // namespace tune::platform

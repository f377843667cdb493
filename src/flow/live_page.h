#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/descendants.h"
#include "base/descriptor.h"
#include "base/page_server.h"
#include "interop/recording.h"

namespace tune::flow {

/// Runs that a page shows while they go on: their files are read again when they have grown.
struct LiveRuns {
  std::string title;
  std::vector<std::filesystem::path> files;
  /// The page's data of what a file holds now, as report_data writes them.
  std::function<std::string(const interop::Recording&)> data;
};

/// Serves their page until the process ends, and prints its address. Throws Error as PageServer does.
void serve(const LiveRuns& runs, const base::PageAddress& address);

/// The same, in a process of its own with the lowest priority, so that a run goes on whatever happens to its page. Open
/// pages learn when this object ends.
class LivePage {
 public:
  /// Prints the address. Throws Error as PageServer does. Call it before this process has threads or holds locks.
  LivePage(const LiveRuns& runs, const base::PageAddress& address);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

 private:
  pid_t process_;
  base::Descriptor open_;  ///< closed: the run has ended
  base::StartedChild child_;
};

}  // namespace tune::flow

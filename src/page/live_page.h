#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "platform/files/descriptor.h"
#include "platform/net/page_server.h"
#include "platform/process/descendants.h"
#include "recording/recording.h"

namespace tune::page {

/// Runs that a page shows while they go on: their files are read again when they have grown.
struct LiveRuns {
  std::string title;
  std::vector<std::filesystem::path> files;
  std::function<std::vector<recording::Recording>(const std::filesystem::path&)> read;  ///< what a file holds
  /// The page's data of one of them, as report_data writes them.
  std::function<std::string(const recording::Recording&)> data;
};

/// Serves their page until the process ends, and prints its address. Throws Error as PageServer does.
void serve(const LiveRuns& runs, const platform::Address& address);

/// The same, in a process of its own with the lowest priority, so that a run goes on whatever happens to its page. Open
/// pages learn when this object ends.
class LivePage {
 public:
  /// Prints the address. Throws Error as PageServer does. Call it before this process has threads or holds locks.
  LivePage(const LiveRuns& runs, const platform::Address& address);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

 private:
  pid_t process_;
  platform::Descriptor open_;  ///< closed: the run has ended
  platform::StartedChild child_;
};

}  // namespace tune::page

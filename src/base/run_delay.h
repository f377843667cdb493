#pragma once
#include <string>

#include "base/descriptor.h"

namespace tune::base {

/// How long a thread has had to wait for a core, all in all, as the system counts it.
class RunDelay {
 public:
  RunDelay() = default;
  /// `file` is the thread's schedstat in /proc.
  explicit RunDelay(const std::string& file);

  bool is_known() const;
  /// 0 where the system does not say.
  double seconds() const;

 private:
  base::Descriptor file_;
};

}  // namespace tune::base

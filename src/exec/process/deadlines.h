#pragma once
#include <chrono>

namespace tune::exec {

/// How long a worker may take in each part of its life before it is killed.
struct Deadlines {
  std::chrono::duration<double> build{120};
  std::chrono::duration<double> run{60};  ///< each of start, load, and check with measure
};

}  // namespace tune::exec

#pragma once
#include "model/device.h"

namespace tune::wire {

/// What the worker of a backend calls the file that it builds.
inline const char* artifact_name(Backend backend) {
  switch (backend) {
    case Backend::cuda:
      return "kernel.cubin";
    case Backend::hip:
      return "kernel.hsaco";
    case Backend::cpu:
      return "kernel.so";
    default:
      return "program";
  }
}

}  // namespace tune::wire

#pragma once
#include "model/device.h"

namespace tune {

/// This machine as a device: `cores`, cache and memory sizes in bytes, `simd_bits`, `name`. `arch` tells CPUs apart
/// that -march=native builds different code for.
Device probe_cpu();

}  // namespace tune

#pragma once

namespace tune {

/// Returns once the threads of this process have come to rest, or after a quarter of a second. The threads of OpenMP and
/// of BLAS libraries spin for a while after a launch, and would take their cores from the process that is timed next.
void wait_until_idle();

}  // namespace tune

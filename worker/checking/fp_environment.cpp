#include "checking/fp_environment.h"

#include <cfenv>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tune::worker {

void reset_arithmetic() { std::fesetenv(FE_DFL_ENV); }

bool has_default_arithmetic() {
#if defined(__SSE__)
  constexpr unsigned kDefault = 0x1f80, kRaised = 0x3f;  // the exceptions that were raised say nothing
  if ((_mm_getcsr() & ~kRaised) != kDefault) return false;
#endif
  return std::fegetround() == FE_TONEAREST;
}

}  // namespace tune::worker

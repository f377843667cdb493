#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "platform/process/taken_cores.h"
#include "wire/messages.h"

namespace tune::worker {

/// What a launch of a kernel, or a run of a command, had of the cores.
struct CoreUse {
  double seconds = 0;              ///< that it took
  double computed = 0;             ///< seconds of all its threads
  double first_computed = 0;       ///< of them, those of the thread that began
  double first_waited = 0;         ///< of `seconds`, those in which that thread waited for a core
  double others_waited = 0;        ///< seconds in which its other threads, those that are still there, waited for a
                                   ///< core, also right before and after
  std::size_t threads = 1;         ///< that are still there
  std::optional<double> others{};  ///< threads of other programs that ran when it had ended; nullopt: not known
};

/// Whether these had several threads, and other programs and the host left fewer of so many cores than that.
bool threads_lacked_cores(std::span<const CoreUse> uses, double cores, const platform::Stolen& stolen);

/// Measured::clean_seconds of these, which one spec had in this `go` on so many cores; 0 if there are none. `stolen`:
/// what the host took from before the first to after the last.
///
/// What one thread takes alone is its time without what it waited for a core, and without those seconds in which it
/// did not compute that the host of a virtual machine may have taken. Several threads wait for each other, too, and how
/// long those that have ended waited is not known. Where other programs and the host leave fewer cores than the spec
/// has threads, it is the lesser of what its threads computed, spread over all cores, and the time without all waits,
/// because threads may compute while they wait for another. Else it is the time without twice the waits of threads that
/// are still there, if there is a core for each of them: where they share one, some spin while the others wait.
/// Launches that lost more than a few percent so tell little, and count in the sweep only if there is no other. It is a
/// thousandth of the time at least.
double clean_seconds(std::span<const CoreUse> uses, double cores, const platform::Stolen& stolen, const wire::Go& go);

}  // namespace tune::worker

#pragma once
#include "exec/process/worker_phase.h"

namespace tune::exec {

/// Where a process of a DeviceQueue is, and what leads it on from there. In any state it may end, or be killed because
/// its job is abandoned.
enum class SlotState {
  opening,    ///< its first spec is not loaded, nor perhaps the device opened. Loads it: loaded
  loading,    ///< loads another spec: loaded
  loaded,     ///< may launch. Is told to: launched
  launched,   ///< is checked, or timed. Has a time: measured, or idle if processes are reused; only a check: checked
  checked,    ///< may be timed. Is told to: launched
  measured,   ///< its job has a time, which counts once the process has ended well. Is told to: finishing
  finishing,  ///< ends, after which its job has a result
  idle,       ///< has no job. Is given the next: loading; is not needed: leaving
  leaving,    ///< ends, without a job
};

/// It follows from the phase of a measure process. `used`: it has measured another spec before its job.
constexpr SlotState slot_state(Phase phase, bool has_job, bool used) {
  if (phase < Phase::loaded) return used ? SlotState::loading : SlotState::opening;
  if (phase == Phase::loaded) return SlotState::loaded;
  if (phase == Phase::waiting) return SlotState::checked;
  if (phase == Phase::measured) return has_job ? SlotState::measured : SlotState::idle;
  if (phase == Phase::leaving) return has_job ? SlotState::finishing : SlotState::leaving;
  return SlotState::launched;
}

constexpr bool is_ending(SlotState state) { return state == SlotState::finishing || state == SlotState::leaving; }
/// Whether it disturbs what is timed on the device.
constexpr bool opens_or_closes(SlotState state) { return state == SlotState::opening || is_ending(state); }

}  // namespace tune::exec

#pragma once
#include <cstdint>
#include <string>

#include "model/device.h"
#include "model/problem.h"

/// What a device can do at most, by the documents of its vendor.
namespace tune {

/// The most operations per second that a GPU of this architecture (`sm_90a`, `gfx90a`) can do at this clock for a GEMM
/// of these types, whatever units and tricks it uses. 0: not known.
double peak_flops(const std::string& arch, std::int64_t multiprocessors, double clock_hz, const Gemm& gemm);
/// Operations that one multiprocessor of this architecture does per cycle for inputs of this type, with its matrix
/// units where they multiply that type as it is, else with its lanes. 0: not known.
double operations_per_cycle(const std::string& arch, Type type);
/// What peak_flops says of what a probe found; 0 also for problems that are no GEMM, and for CPUs.
double peak_flops(const Device& device, const Problem& problem);

}  // namespace tune

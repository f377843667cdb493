#include "exec/request/memory.h"

#include <algorithm>

namespace tune::exec {
namespace {

constexpr double kMany = 1e6;

/// `copies`: how often each input is there.
double bytes_of_problem(const Problem& problem, double copies) {
  const auto bytes_each = [](Type type) { return static_cast<double>(size_of(type)); };
  double inputs = 0, outputs = 0;
  if (const auto* gemm = std::get_if<Gemm>(&problem)) {
    const auto batch = static_cast<double>(gemm->batch), m = static_cast<double>(gemm->rows());
    const auto n = static_cast<double>(gemm->n), k = static_cast<double>(gemm->k);
    const auto matrices_of_b = static_cast<double>(gemm->matrices_of_b());
    const auto columns = static_cast<double>(gemm->columns());
    inputs = batch * m * k * bytes_each(gemm->a) + matrices_of_b * k * columns * bytes_each(gemm->b) +
             (gemm->residual ? batch * m * n * bytes_each(gemm->c) : 0) +
             static_cast<double>(gemm->scales_of_a().extent() + gemm->scales_of_b().extent()) * double{sizeof(float)};
    outputs = batch * m * (n * bytes_each(gemm->c) + columns * double{sizeof(double)});
  }
  if (const auto* custom = std::get_if<Custom>(&problem))
    for (const Buffer& buffer : custom->buffers) {
      const auto count = static_cast<double>(buffer.count);
      (buffer.role == Buffer::Role::out ? outputs : inputs) += count * bytes_each(buffer.type);
      outputs += count * double{sizeof(double)};
    }
  return copies * inputs + outputs;
}

double bytes_of_process(Backend backend, const Problem& problem, std::int64_t workspace_bytes) {
  const double copies = is_gpu(backend) ? 2 : 1;  // a GPU's worker keeps the originals
  return bytes_of_problem(problem, copies) + static_cast<double>(workspace_bytes) + traits_of(backend).process_bytes;
}

}  // namespace

std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::int64_t workspace_bytes) {
  if (is_program(backend)) return std::nullopt;
  const auto bytes = device.integer("memory_bytes");
  if (!bytes) return std::nullopt;
  const double fitting = static_cast<double>(*bytes) / bytes_of_process(backend, problem, workspace_bytes);
  return std::max(static_cast<int>(std::min(fitting, kMany)) - 1, 1);
}

std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::span<const std::int64_t> workspace_bytes) {
  const auto without = processes_that_fit(backend, problem, device);
  if (without.value_or(1) == 1) return without;
  double room = static_cast<double>(*device.integer("memory_bytes")) - bytes_of_process(backend, problem, 0);
  int fitting = 0;
  for (const std::int64_t workspace : workspace_bytes)
    if ((room -= bytes_of_process(backend, problem, workspace)) >= 0) ++fitting;
  return std::max(fitting, 1);
}

}  // namespace tune::exec

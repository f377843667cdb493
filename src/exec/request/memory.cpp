#include "exec/request/memory.h"

#include <algorithm>

namespace tune::exec {
namespace {

constexpr double kMany = 1e6;

double bytes_of_problem(const Problem& problem) {
  double bytes = 0;
  if (const auto* gemm = std::get_if<Gemm>(&problem)) {
    const auto batch = static_cast<double>(gemm->batch), m = static_cast<double>(gemm->rows());
    const auto n = static_cast<double>(gemm->n), k = static_cast<double>(gemm->k);
    const auto matrices_of_b = static_cast<double>(gemm->matrices_of_b());
    const auto columns = static_cast<double>(gemm->columns()), matrices = gemm->residual ? 2.0 : 1.0;
    bytes = batch * (m * k * static_cast<double>(size_of(gemm->a)) +
                     m * (matrices * n * static_cast<double>(size_of(gemm->c)) + columns * double{sizeof(double)})) +
            matrices_of_b * k * columns * static_cast<double>(size_of(gemm->b));
    bytes += static_cast<double>(gemm->scales_of_a().extent() + gemm->scales_of_b().extent()) * double{sizeof(float)};
  }
  if (const auto* custom = std::get_if<Custom>(&problem))
    for (const Buffer& buffer : custom->buffers)
      bytes += static_cast<double>(buffer.count) * static_cast<double>(size_of(buffer.type) + sizeof(double));
  return bytes;
}

double bytes_of_process(Backend backend, const Problem& problem, std::int64_t workspace_bytes) {
  return bytes_of_problem(problem) + static_cast<double>(workspace_bytes) + traits_of(backend).process_bytes;
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

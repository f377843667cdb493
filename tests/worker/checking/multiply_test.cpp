#include "checking/multiply.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "checking/inputs.h"

namespace tune::multiply_test {
namespace {

std::vector<double> values(std::int64_t count, std::uint64_t buffer) {
  std::vector<double> result(static_cast<std::size_t>(count));
  worker::generate({Type::f64, worker::source_of(Init::uniform), 42, buffer}, 0, count, result.data());
  return result;
}

TEST(Multiply, AgreesWithTheDefinitionForAllShapesAndStrides) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1), {5, 7, 3}, {65, 9, 300}, {130, 33, 513}}) {
    const auto a = values(m * k, 0), b = values(k * n, 1);
    std::vector<double> product(static_cast<std::size_t>(m * n));
    worker::multiply({a.data(), 1, m}, {b.data(), n, 1}, m, n, k, product.data());
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        long double sum = 0;
        for (int p = 0; p < k; ++p) sum += static_cast<long double>(a[i + p * m]) * b[p * n + j];
        EXPECT_NEAR(product[static_cast<std::size_t>(i * n + j)], static_cast<double>(sum), 1e-12);
      }
  }
}

}  // namespace
}  // namespace tune::multiply_test

// Prints what a request and its context cost in nanoseconds: without a tool, and with one that has decided. Run by
// hand: KOKKOS_TOOLS_LIBS=build/release/lib/libtune_kokkos.so bench_kokkos
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tune/tuning.h"

int main() {
  const tune::tuning::Parameter tile("tile", std::vector<std::int64_t>{1, 2});
  const tune::tuning::Parameter unroll("unroll", std::vector<std::int64_t>{1, 2});
  const tune::tuning::Input size("size");
  const tune::tuning::Input cost("cost", tune::tools::ValueType::real);
  const auto request = [&](bool decides) {
    tune::tuning::Context context;
    context.set(size, 64);
    if (decides) context.set_goal(cost, tune::tuning::Direction::minimize);
    std::int64_t t = 1, u = 1;
    context.request({{tile, &t}, {unroll, &u}});
    if (decides) context.set(cost, static_cast<double>(t + u));
  };
  for (int i = 0; i < 1000; ++i) request(true);
  constexpr int kCount = 200'000;
  double least = 1;
  for (int round = 0; round < 10; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCount; ++i) request(false);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kCount);
  }
  std::printf("%s: %.0f ns for a context with one input and a request of two values\n",
              tune::tuning::Tool::get() ? "a tool that has decided" : "no tool", 1e9 * least);
  return 0;
}

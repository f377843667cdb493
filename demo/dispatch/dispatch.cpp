// Multiplies matrices whose sizes are known only at run time with the kernel that was tuned for them: an example of a
// program that uses the results of tune. Build and run it as docs/dispatch.md says.
#include "dispatch.h"

#include <dlfcn.h>

#include <cmath>
#include <fstream>

namespace {

using Gemm = void (*)(const float*, const float*, float*, int, int, int, int);

/// What the program did before it was tuned, and does if nothing is known.
void plain_gemm(const float* A, const float* B, float* C, int m, int n, int k, int) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * static_cast<long>(k) + p] * B[p * static_cast<long>(n) + j];
      C[i * static_cast<long>(n) + j] = sum;
    }
}

/// The model of the processor, as tune names it.
std::string device_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  return "cpu";
}

/// The kernel of a binary, which is loaded once; nothing of tune is needed for that.
Gemm load(const std::string& binary) {
  static std::map<std::string, Gemm> loaded;
  const auto known = loaded.find(binary);
  if (known != loaded.end()) return known->second;
  void* const library = ::dlopen(binary.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library != nullptr ? ::dlsym(library, "gemm") : nullptr;
  if (symbol == nullptr) std::fprintf(stderr, "%s; the plain loop is used instead\n", ::dlerror());
  return loaded[binary] = reinterpret_cast<Gemm>(symbol);
}

bool run(const Size& size, Gemm gemm, int threads) {
  Product product(size);
  gemm(product.A.data(), product.B.data(), product.C.data(), static_cast<int>(size.m), static_cast<int>(size.n),
       static_cast<int>(size.k), threads);
  return product.is_right();
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  Dispatcher dispatcher(settings, device_name());
  bool right = true;
  for (const Size& size : settings.sizes) {
    const auto threads_of = [](const tuned_gemm::Params& params) {
      return std::map<std::string, long>{{"THREADS", static_cast<long>(params.THREADS)}};
    };
    Choice choice = dispatcher.choose(size, threads_of);
    const Gemm tuned = choice.binary.empty() ? nullptr : load(choice.binary);
    dispatcher.count(choice, tuned != nullptr);
    const bool is_right = run(size, tuned != nullptr ? tuned : plain_gemm, static_cast<int>(choice.params["THREADS"]));
    std::printf("%ldx%ldx%ld: %s, %s\n", size.m, size.n, size.k,
                tuned != nullptr ? choice.binary.c_str() : "plain loop", is_right ? "right" : "WRONG");
    right = right && is_right;
  }
  if (settings.print_counts) dispatcher.print_counts();
  return right ? 0 : 1;
}

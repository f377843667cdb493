#include "gpu/cuda/ptxas_log.h"

#include <algorithm>
#include <cstdlib>

namespace tune::worker {
namespace {

/// The text between the first `'` after `mark` and the next one.
std::string quoted_after(std::string_view line, std::string_view mark) {
  const auto begin = line.find('\'', line.find(mark));
  if (begin == line.npos) return "";
  return std::string(line.substr(begin + 1, line.find('\'', begin + 1) - begin - 1));
}

/// The number before `unit`; 0 if there is none.
int number_before(std::string_view line, std::string_view unit) {
  const auto end = line.find(unit);
  if (end == line.npos) return 0;
  auto begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::atoi(std::string(line.substr(begin, end - begin)).c_str());
}

}  // namespace

std::map<std::string, KernelResources> read_ptxas_log(std::string_view log) {
  std::map<std::string, KernelResources> kernels;
  std::string kernel;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (line.find("Compiling entry function") != line.npos) {
      kernel = quoted_after(line, "function");
      kernels[kernel];
    } else if (line.find("Function properties for") != line.npos) {
      // Functions that were not inlined have properties of their own, which are not the kernel's.
      if (!line.ends_with(" " + kernel)) kernel.clear();
    } else if (const auto found = kernels.find(kernel); found != kernels.end()) {
      KernelResources& resources = found->second;
      resources.spills += number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
      resources.registers += number_before(line, " registers");
      resources.shared += number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace tune::worker

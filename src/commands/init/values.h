#pragma once
#include <string>
#include <vector>

#include "commands/init/indexing.h"
#include "commands/init/source.h"

namespace tune::commands {

/// A launch as far as it is known when the values of its parameters are guessed.
struct KnownLaunch {
  bool for_gpu = false, has_tensor_maps = false;
  std::vector<std::string> block;  ///< threads along x, y and z, as expressions
  const Indexing* indexing = nullptr;
};

/// The values that are worth a try, as a tuning file has them: by the number in the source, by what its assertions
/// allow, by what the macro is called, and by where it stands.
std::string guess_values(const BuildMacro& macro, const KernelSource& source, const KnownLaunch& launch);

}  // namespace tune::commands

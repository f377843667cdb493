#pragma once
#include <span>
#include <string_view>

namespace tune::search {

/// A strategy of Kernel Tuner, and what stands for it here.
struct KernelTunerName {
  std::string_view name;
  std::string_view ours;
  bool same = false;  ///< the same kind of search; else `ours` is only the nearest one
};

std::span<const KernelTunerName> kernel_tuner_names();

/// The option of the command line that an option of Kernel Tuner's strategies is here, such as max_fevals; empty: none.
std::string_view option_for(std::string_view strategy_option);

}  // namespace tune::search

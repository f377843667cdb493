#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml/diagnostics.h"

namespace tune::config {

/// One configuration as tune_gemm spells it in its output and in the names of its kernels, such as
/// M16_N8_K128_BM64_BN64_BK64_GM1_SK2_nW2_nS0_EU0_kP2_mfma16.
struct ConfigurationText {
  /// A parameter may be called by what the text says (`nW`) or by what tune_gemm's files say (`num_warps`).
  struct Parameter {
    std::string short_name, long_name;
    std::string value;
  };
  std::vector<std::pair<std::string, std::string>> problem;  ///< m, n, k, bias and their values
  std::vector<Parameter> parameters;
};

/// Reports what is not understood.
ConfigurationText read_configuration(std::string_view text, const Place& place, Diagnostics& diagnostics);

}  // namespace tune::config

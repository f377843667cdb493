#include "model/values/error.h"

#include <algorithm>
#include <array>

namespace tune {

ExitCode worse(ExitCode one, ExitCode other) {
  constexpr std::array kWorstFirst = {ExitCode::bad_input,  ExitCode::environment, ExitCode::check_failed,
                                      ExitCode::none_valid, ExitCode::undecided,   ExitCode::ok};
  return *std::ranges::find_if(kWorstFirst, [&](ExitCode code) { return code == one || code == other; });
}

}  // namespace tune

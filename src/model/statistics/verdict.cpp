#include "model/statistics/verdict.h"

namespace tune {

std::string_view to_text(Decision decision) {
  switch (decision) {
    case Decision::decided:
      return "DECIDED";
    case Decision::pass:
      return "PASS";
    case Decision::undecided:
      return "UNDECIDED";
    case Decision::fail:
      break;
  }
  return "FAIL";
}

}  // namespace tune

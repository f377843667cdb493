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

std::optional<Decision> decision_named(std::string_view name) {
  for (const Decision decision : {Decision::decided, Decision::pass, Decision::undecided, Decision::fail})
    if (to_text(decision) == name) return decision;
  return std::nullopt;
}

}  // namespace tune

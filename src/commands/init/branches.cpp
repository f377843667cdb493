#include "commands/init/branches.h"

#include <algorithm>

namespace tune::commands {

std::vector<Branch> branches_of(const std::vector<Tokens>& directives) {
  struct Open {
    Branch first;
    int middle = 0;  ///< the line of `#else`
    bool usable = true;
  };
  std::vector<Open> open;
  std::vector<Branch> branches;
  for (const Tokens& directive : directives) {
    if (directive.empty()) continue;
    const int line = directive[0].line;
    if (directive[0].text.starts_with("if")) {
      const bool asks = std::ranges::any_of(directive, [](const Token& each) { return each.is("defined"); });
      open.push_back({{Tokens(directive.begin() + 1, directive.end()), false, line, 0},
                      0,
                      directive[0].is("if") && directive.size() > 1 && !asks});
    }
    if (open.empty()) continue;
    if (directive[0].text.starts_with("elif")) open.back().usable = false;
    if (directive[0].is("else")) open.back().middle = line;
    if (!directive[0].is("endif")) continue;
    Open done = std::move(open.back());
    open.pop_back();
    if (!done.usable) continue;
    done.first.end = done.middle != 0 ? done.middle : line;
    branches.push_back(done.first);
    if (done.middle != 0) branches.push_back({done.first.condition, true, done.middle, line});
  }
  return branches;
}

const Branch* branch_at(const std::vector<Branch>& branches, int line) {
  const auto found =
      std::ranges::find_if(branches, [&](const Branch& each) { return each.begin < line && line < each.end; });
  return found == branches.end() ? nullptr : &*found;
}

std::string asked_for(const Tokens& directive) {
  if (directive.size() >= 2 && directive[0].is("ifndef")) return directive[1].text;
  if (directive.size() >= 4 && directive[0].is("if") && directive[1].is("!") && directive[2].is("defined"))
    return directive[directive[3].is("(") && directive.size() > 4 ? 4 : 3].text;
  return "";
}

}  // namespace tune::commands

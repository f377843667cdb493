// An application that tunes itself through tune/tuning.h. What its work would cost is computed, so that the best values
// are known and every run takes the same path. The first word says what it does, the second how often.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tune/tuning.h"

namespace {

using tune::tuning::Category;
using tune::tuning::Context;
using tune::tuning::Direction;
using tune::tuning::Input;
using tune::tuning::Parameter;
using tune::tools::ValueType;

const Input cost_of_work("cost", ValueType::real, Category::ratio);

/// All four categories, all three types, sets and ranges; best: tree, 8, 0.3, 64.
void categories(int count) {
  const Parameter kind("kind", std::vector<std::string>{"list", "tree", "hash"});
  const Parameter level("level", std::vector<std::int64_t>{1, 2, 4, 8, 16});
  const Parameter share("share", 0.0, 1.0, 0.1);
  const Parameter block("block", std::vector<std::int64_t>{8, 16, 32, 64, 128, 256}, Category::ratio);
  for (int i = 0; i < count; ++i) {
    Context context;
    context.set_goal(cost_of_work, Direction::minimize);
    std::string k = "list";
    std::int64_t l = 1, b = 8;
    double s = 0;
    context.request({{kind, &k}, {level, &l}, {share, &s}, {block, &b}});
    if (i == 0) std::printf("first: %s %ld %.1f %ld\n", k.c_str(), static_cast<long>(l), s, static_cast<long>(b));
    context.set(cost_of_work, (k == "tree" ? 1 : 1.5) + 0.2 * std::abs(std::log2(static_cast<double>(l)) - 3) +
                                  2 * std::abs(s - 0.3) + 0.3 * std::abs(std::log2(static_cast<double>(b)) - 6));
    if (i + 1 == count)
      std::printf("last: %s %ld %.1f %ld\n", k.c_str(), static_cast<long>(l), s, static_cast<long>(b));
  }
}

/// The best tile within the outer context is its own, of each size; that of the outer one is 3.
void nested(int count) {
  const Parameter outer("outer", 1, 4, 1), tile("tile", std::vector<std::int64_t>{1, 2, 4, 8});
  const Input size("size");
  for (int i = 0; i < count; ++i) {
    Context around;
    around.set_goal(cost_of_work, Direction::minimize);
    std::int64_t steps = 1, a = 1, b = 1;
    around.request({{outer, &steps}});
    for (const std::int64_t n : {100, 800}) {
      Context inner;
      inner.set(size, n);
      inner.set_goal(cost_of_work, Direction::minimize);
      std::int64_t& t = n == 100 ? a : b;
      inner.request({{tile, &t}});
      inner.set(cost_of_work, 1 + std::abs(std::log2(static_cast<double>(t)) - (n == 100 ? 1 : 3)));
    }
    around.set(cost_of_work, 1 + std::abs(static_cast<double>(steps) - 3));
    if (i == 0 || i + 1 == count)
      std::printf("%s: outer %ld, tile %ld and %ld\n", i == 0 ? "first" : "last", static_cast<long>(steps),
                  static_cast<long>(a), static_cast<long>(b));
  }
}

/// One size, which is given by the third word.
void of_size(int count, std::int64_t n) {
  const Parameter tile("tile", std::vector<std::int64_t>{1, 2, 4, 8});
  const Input size("size");
  for (int i = 0; i < count; ++i) {
    Context context;
    context.set(size, n);
    context.set_goal(cost_of_work, Direction::maximize);
    std::int64_t t = 1;
    context.request({{tile, &t}});
    if (i == 0 || i + 1 == count) std::printf("%s: %ld\n", i == 0 ? "first" : "last", static_cast<long>(t));
    context.set(cost_of_work, static_cast<double>(t));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  if (what == "categories") categories(count);
  if (what == "nested") nested(count);
  if (what == "size") of_size(count, argc > 3 ? std::atoi(argv[3]) : 64);
  return 0;
}

// An application that tunes itself through tune/tuning.h. What its work would cost is computed, so that the best values
// are known and every run takes the same path. The first word says what it does, the second how often.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tune/tuning.h"

namespace {

using tune::tools::ValueType;
using tune::tuning::Category;
using tune::tuning::Context;
using tune::tuning::Direction;
using tune::tuning::Input;
using tune::tuning::Parameter;

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

// What follows speaks the C interface itself.

namespace tools = tune::tools;
using tune::tuning::Tool;

tools::VariableInfo integers(tools::Candidates quantity = tools::Candidates::unbounded) {
  tools::VariableInfo info{};
  info.type = ValueType::integer;
  info.category = Category::interval;
  info.quantity = quantity;
  return info;
}

tools::VariableInfo range_of(std::int64_t lower, std::int64_t upper, std::int64_t step, bool open) {
  tools::VariableInfo info = integers(tools::Candidates::range);
  info.candidates.range.lower.integer = lower;
  info.candidates.range.upper.integer = upper;
  info.candidates.range.step.integer = step;
  info.candidates.range.open_lower = info.candidates.range.open_upper = open;
  return info;
}

tools::VariableValue value_of(std::size_t id, std::int64_t number, tools::VariableInfo* info = nullptr) {
  tools::VariableValue value{id, {}, info};
  value.value.integer = number;
  return value;
}

constexpr std::size_t kCost = 9;

/// A context whose cost is computed from the value that it is given.
template <typename Cost>
std::int64_t ask(std::size_t context, std::size_t variable, std::int64_t standard, const Cost& cost) {
  const Tool& tool = Tool::get();
  tool.begin(context);
  tool.declare_goal(context, {kCost, Direction::minimize});
  tools::VariableValue value = value_of(variable, standard);
  tool.request(context, 0, nullptr, 1, &value);
  const std::int64_t answer = value.value.integer;
  tool.end(context, value_of(kCost, cost(answer)));
  return answer;
}

/// The numbers 1 and 2 are used for all contexts; the best tile is 8 in the first outer context and 2 in the second
/// one.
void reused(int count) {
  const Tool& tool = Tool::get();
  tools::VariableInfo solver = range_of(1, 3, 1, false), assembly = solver, tile = range_of(1, 9, 1, false);
  tools::VariableInfo cost = integers();
  tool.declare_output("solver", 1, &solver);
  tool.declare_output("assembly", 2, &assembly);
  tool.declare_output("tile", 3, &tile);
  tool.declare_input("cost", kCost, &cost);
  std::int64_t tiles[2] = {};
  for (int i = 0; i < count; ++i)
    for (const std::size_t which : {1, 2}) {
      tool.begin(1);
      tools::VariableValue value = value_of(which, 1);
      tool.declare_goal(1, {kCost, Direction::minimize});
      tool.request(1, 0, nullptr, 1, &value);
      tiles[which - 1] = ask(2, 3, 1, [&](std::int64_t t) { return 1 + std::abs(t - (which == 1 ? 8 : 2)); });
      tool.end(1, value_of(kCost, 5));
    }
  std::printf("last: %ld and %ld\n", static_cast<long>(tiles[0]), static_cast<long>(tiles[1]));
}

/// Prints which values it was given: those of an open range, and the default, which is none of them.
void open_range(int count) {
  tools::VariableInfo info = range_of(0, 8, 2, true), cost = integers();
  Tool::get().declare_output("steps", 1, &info);
  Tool::get().declare_input("cost", kCost, &cost);
  std::string seen(9, '-');
  for (int i = 0; i < count; ++i)
    seen[static_cast<std::size_t>(ask(1, 1, 0, [](std::int64_t v) { return 10 - v; }))] = 'x';
  std::printf("seen: %s\n", seen.c_str());
}

/// A thousand values, of which 700 is the best; prints the last one.
void line(int count, const std::string& category) {
  tools::VariableInfo info = range_of(1, 1000, 1, false), cost = integers();
  info.category = category == "interval" ? Category::interval : Category::categorical;
  Tool::get().declare_output("value", 1, &info);
  Tool::get().declare_input("cost", kCost, &cost);
  std::int64_t last = 0;
  for (int i = 0; i < count; ++i) last = ask(1, 1, 1, [](std::int64_t v) { return 100 + std::abs(v - 700); });
  std::printf("last: %ld\n", static_cast<long>(last));
}

/// Everything that an application should not do; all values must stay as they are.
void wrong() {
  const Tool& tool = Tool::get();
  tools::VariableInfo empty = integers(tools::Candidates::set), no_step = range_of(1, 5, 0, false);
  tools::VariableInfo unbounded = integers(), damaged = integers(), good = range_of(1, 5, 1, false);
  damaged.type = static_cast<ValueType>(77);
  tool.declare_output("empty", 1, &empty);
  tool.declare_output("no_step", 2, &no_step);
  tool.declare_output("unbounded", 3, &unbounded);
  tool.declare_output("damaged", 4, &damaged);
  tool.declare_output(nullptr, 5, &good);
  tools::VariableInfo real = integers();
  real.type = ValueType::real;
  tool.declare_input("not_a_number", 8, &real);
  for (std::size_t i = 0; i < 10'000; ++i) tool.declare_output(("many_" + std::to_string(i)).c_str(), 100 + i, &good);
  long changed = 0;
  const auto ask_for = [&](std::vector<std::size_t> ids, std::vector<tools::VariableValue> inputs) {
    for (int i = 0; i < 10; ++i) {
      std::vector<tools::VariableValue> values;
      for (const std::size_t id : ids) values.push_back(value_of(id, 77));
      tool.begin(1);
      tool.request(1, inputs.size(), inputs.data(), values.size(), values.data());
      tool.end(1, {});
      for (const tools::VariableValue& value : values) changed += value.value.integer == 77 ? 0 : 1;
    }
  };
  for (const std::size_t id : {1, 2, 3, 4, 99}) ask_for({id}, {});
  tools::VariableValue nan = value_of(8, 0);
  nan.value.real = std::nan("");
  ask_for({5}, {nan});
  ask_for({5}, {value_of(98, 1)});
  std::vector<std::size_t> many(10'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 100 + i;
  ask_for(many, {});
  tools::VariableValue value = value_of(5, 77);
  tool.request(1, 0, nullptr, 0, nullptr);
  tool.request(1, 3, nullptr, 1, &value);
  tool.request(55, 0, nullptr, 1, &value);  // a context that was never begun
  tool.end(1, {});
  tool.end(1, {});
  for (std::size_t i = 0; i < 1000; ++i) tool.begin(i);
  std::printf("changed: %ld\n", changed + (value.value.integer == 77 ? 0 : 1));
}

/// Names and values that a file must quote, and names that are there twice.
void names(int count) {
  const Parameter tile("8 tiles: #x\n\"a\" \xff", std::vector<std::int64_t>{1, 2, 4, 8}), same("same", 1, 3, 1),
      twin("same", 1, 3, 1);
  const Parameter text("text", std::vector<std::string>{"1e3", "yes: \t#", "\xff\x01", "16", "a+b", ""});
  const Input number("n: {x}\n# y"), again("n: {x}\n# y"), words("\xfe, tunes", ValueType::text), tunes("tunes");
  for (int i = 0; i < count; ++i) {
    Context context;
    context.set(number, 1);
    context.set(again, 2);
    context.set(tunes, 3);
    context.set(words, std::string("- 'x'\n\xff: [\t"));
    context.set_goal(cost_of_work, Direction::minimize);
    std::int64_t value = 1, one = 1, two = 1;
    std::string chosen = "a+b";
    context.request({{tile, &value}, {same, &one}, {twin, &two}, {text, &chosen}});
    if (i == 0 || i + 1 == count)
      std::printf("%s: %ld %ld %ld %s\n", i == 0 ? "first" : "last", static_cast<long>(value), static_cast<long>(one),
                  static_cast<long>(two), chosen.c_str());
    context.set(cost_of_work, 20.0 - static_cast<double>(value + one - two) - (chosen == "16" ? 3 : 0));
  }
}

/// Four threads use the same contexts at the same time.
void threads(int count) {
  const Parameter tile("tile", std::vector<std::int64_t>{1, 2, 4, 8});
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < count; ++i) {
        Context context;
        context.set_goal(cost_of_work, Direction::minimize);
        std::int64_t value = 1;
        context.request({{tile, &value}});
        context.set(cost_of_work, 1.0 / static_cast<double>(value));
      }
    });
  for (std::thread& thread : all) thread.join();
  std::printf("done\n");
}

/// A child is made within a context, and both go on.
void forks(int count) {
  const Parameter tile("tile", std::vector<std::int64_t>{1, 2, 4, 8});
  ::pid_t child = -1;
  std::int64_t value = 1;
  for (int i = 0; i < count; ++i) {
    Context context;
    context.set_goal(cost_of_work, Direction::minimize);
    value = 1;
    context.request({{tile, &value}});
    if (i == 10) child = ::fork();
    context.set(cost_of_work, 1.0 / static_cast<double>(value));
  }
  if (child == 0) ::_exit(value == 8 ? 0 : 1);  // without finalizing
  int status = -1;
  ::waitpid(child, &status, 0);
  std::printf("parent: %ld, child: %d\n", static_cast<long>(value), status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  if (what == "categories") categories(count);
  if (what == "nested") nested(count);
  if (what == "size") of_size(count, argc > 3 ? std::atoi(argv[3]) : 64);
  if (what == "reused") reused(count);
  if (what == "open_range") open_range(count);
  if (what == "line") line(count, argc > 3 ? argv[3] : "");
  if (what == "wrong") wrong();
  if (what == "names") names(count);
  if (what == "threads") threads(count);
  if (what == "forks") forks(count);
  if (what == "fails") return 3;
  return 0;
}

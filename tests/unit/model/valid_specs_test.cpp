#include "model/constraints/valid_specs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "model/constraints/spec_sample.h"
#include "model/diagrams/diagram_product.h"

namespace tune::valid_specs_test {
namespace {

/// Writes a space down the way a tuning file does.
class Builder {
 public:
  Builder& mapping() {
    mappings_.emplace_back();
    return *this;
  }
  Builder& parameter(const std::string& name, const std::vector<std::string>& values, Kind kind = Kind::ordinal) {
    names_.declare(name);
    Parameter parameter{name, false, kind, {}};
    for (const std::string& value : values) {
      const bool pair = value.starts_with('[');
      parameter.values.push_back(pair ? Value(Pair{value[1] - '0', value[3] - '0'}) : parse_value(value));
    }
    mappings_.back().parameters.push_back(std::move(parameter));
    return *this;
  }
  Builder& numbers(const std::string& name, int first, int last, Kind kind = Kind::ordinal) {
    std::vector<std::string> values;
    for (int value = first; value <= last; ++value) values.push_back(std::to_string(value));
    return parameter(name, values, kind);
  }
  Builder& let(const std::string& name, const std::string& text) {
    const Expression expression = Expression::parse(text, names_);
    names_.declare(name);
    mappings_.back().derived.push_back({name, expression});
    return *this;
  }
  Builder& constraint(const std::string& text) {
    mappings_.back().constraints.push_back({Expression::parse(text, names_), text});
    return *this;
  }
  Space space() const { return {names_, {}, mappings_}; }

 private:
  Names names_;
  std::vector<Space::Mapping> mappings_;
};

std::string text_of(const Space& space, const Space::Point& point) {
  std::string text;
  for (const Setting& setting : space.spec(point).params)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.name, to_text(setting.value));
  return text;
}

/// Every point of the grid, looked up alone.
std::set<Space::Point> valid_by_lookup(const Space& space) {
  std::set<Space::Point> valid;
  for (std::int64_t i = 0; i < space.product_size(); ++i) {
    const auto point = space.at(i);
    if (const auto* spec = std::get_if<Spec>(&point)) valid.insert(*space.point(*spec));
  }
  return valid;
}

void expect_exactly(const ValidSpecs& specs, const std::set<Space::Point>& wanted) {
  ASSERT_EQ(specs.size(), static_cast<std::int64_t>(wanted.size()));
  EXPECT_EQ(specs.exact_size().text(), std::to_string(wanted.size()));
  std::set<Space::Point> seen;
  for (std::int64_t i = 0; i < specs.size(); ++i) {
    const Space::Point point = specs.at(i);
    EXPECT_TRUE(wanted.contains(point)) << text_of(specs.space(), point);
    EXPECT_EQ(specs.index_of(point), i);
    seen.insert(point);
  }
  EXPECT_EQ(seen.size(), wanted.size());
  for (std::int64_t i = 0; i < specs.space().product_size(); ++i) {
    const auto at = specs.space().at(i);
    if (const auto* rejection = std::get_if<Rejection>(&at)) {
      EXPECT_FALSE(specs.contains(*specs.space().point(rejection->point)));
    }
  }
}

Domains all_values(const Space::Mapping& mapping) {
  Domains domains;
  for (const Parameter& parameter : mapping.parameters) {
    domains.emplace_back(parameter.values.size());
    std::iota(domains.back().begin(), domains.back().end(), 0U);
  }
  return domains;
}

void expect_exactly(const DiagramProduct& points, std::uint32_t mapping, const std::set<Space::Point>& wanted) {
  std::int64_t count = 0;
  for (const Space::Point& point : wanted) {
    if (point.mapping != mapping) continue;
    ++count;
    EXPECT_TRUE(points.index_of(point.digits).has_value());
  }
  EXPECT_EQ(points.size(), count);
}

/// Writes random expressions, most of them sensible somewhere and all of them able to fail.
class Writer {
 public:
  Writer(Random& random, std::vector<std::string> names) : random_(random), names_(std::move(names)) {}

  std::string condition(int depth) {
    switch (random_.below(depth > 0 ? 9 : 4)) {
      case 0:
      case 1:
        return fmt::format("{} {} {}", number(depth), pick({"<", "<=", ">", ">=", "==", "!="}), number(depth));
      case 2:
        return fmt::format("{} % {} == {}", number(depth - 1), operand(), pick({"0", "0", "1"}));
      case 3:
        return fmt::format("{} <= {} < {}", operand(), number(depth - 1), number(depth - 1));
      case 4:
        return fmt::format("({} and {})", condition(depth - 1), condition(depth - 1));
      case 5:
        return fmt::format("({} or {})", condition(depth - 1), condition(depth - 1));
      case 6:
        return fmt::format("not ({})", condition(depth - 1));
      case 7:
        return fmt::format("({} if {} else {})", condition(depth - 1), condition(depth - 1), condition(depth - 1));
      default:
        return fmt::format("{} {} [{}, {}, 'row']", operand(), pick({"in", "not in"}), operand(), number(depth - 1));
    }
  }

  std::string number(int depth) {
    if (depth <= 0) return operand();
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*", "*", "//", "%", "/", "**"}),
                           number(depth - 1));
      case 3:
        return fmt::format("{}({}, {})", pick({"min", "max", "ceil_div"}), number(depth - 1), number(depth - 1));
      case 4:
        return fmt::format("abs({})", number(depth - 1));
      case 5:
        return fmt::format("({} if {} else {})", operand(), condition(depth - 1), number(depth - 1));
      case 6:
        return fmt::format("-{}", operand());
      default:
        return operand();
    }
  }

 private:
  std::string operand() {
    if (random_.below(4) == 0) return pick({"0", "1", "2", "3", "16", "0.5", "4611686018427387904", "True", "'row'"});
    const std::string& name = names_[random_.below(names_.size())];
    return random_.below(12) == 0 ? name + "[0]" : name;
  }
  std::string pick(const std::vector<std::string>& choices) { return choices[random_.below(choices.size())]; }

  Random& random_;
  std::vector<std::string> names_;
};

const std::vector<std::vector<std::string>>& value_lists() {
  static const std::vector<std::vector<std::string>> lists = {
      {"1", "2", "4", "8"},   {"0", "1", "2", "3", "4"},    {"16", "32", "64"},
      {"-3", "-1", "0", "2"}, {"0.5", "1.0", "2.5"},        {"True", "False"},
      {"row", "col"},         {"[1,1]", "[2,1]", "[1,4]"},  {"7"},
      {"1", "0.5", "row"},    {"1", "4611686018427387904"}, {"3", "5", "6", "9", "12", "15"},
  };
  return lists;
}

void add_random_mapping(Builder& builder, Random& random, const std::string& prefix) {
  builder.mapping();
  std::vector<std::string> names;
  const std::uint64_t parameters = 1 + random.below(5);
  for (std::uint64_t i = 0; i < parameters; ++i) {
    names.push_back(fmt::format("{}{}", prefix, i));
    // Integers are what most spaces have.
    const std::size_t lists = random.below(3) == 0 ? value_lists().size() : 3;
    builder.parameter(names.back(), value_lists()[random.below(lists)]);
  }
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    const std::string name = fmt::format("{}L{}", prefix, i);
    builder.let(name, Writer(random, names).number(2));
    names.push_back(name);
  }
  for (std::uint64_t i = random.below(5); i > 0; --i)
    builder.constraint(Writer(random, names).condition(static_cast<int>(random.below(4))));
}

TEST(ValidSpecs, AreThoseOfEveryRandomSpaceLookedUpPointByPoint) {
  std::int64_t valid = 0;
  std::int64_t pruned = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    Builder builder;
    add_random_mapping(builder, random, "A");
    if (random.below(4) == 0) add_random_mapping(builder, random, "B");
    const Space space = builder.space();
    const auto wanted = valid_by_lookup(space);
    valid += static_cast<std::int64_t>(wanted.size());
    pruned += *space.product_size() - static_cast<std::int64_t>(wanted.size());
    expect_exactly(ValidSpecs(space), wanted);
    // Without tables states are values of parts of expressions, and what ranges foresee.
    for (std::uint32_t i = 0; i < space.mappings().size(); ++i) {
      for (const std::size_t rest : {0, 1, 4}) {
        const DiagramProduct points(space, space.mappings()[i], all_values(space.mappings()[i]), nullptr,
                                    {.diagram = {}, .tables = {.rest = rest, .whole = rest}});
        expect_exactly(points, i, wanted);
      }
    }
    if (testing::Test::HasFailure()) {
      for (const Space::Mapping& mapping : space.mappings()) {
        for (const Parameter& p : mapping.parameters) fmt::print("{} x {}\n", p.name, p.values.size());
        for (const Derived& derived : mapping.derived) fmt::print("let {}\n", derived.expression.text());
        for (const Constraint& constraint : mapping.constraints) fmt::print("constraint {}\n", constraint.reason);
      }
      FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(valid, 10'000);
  EXPECT_GT(pruned, 10'000);
}

TEST(ValidSpecs, OfThousandsOfValuesAreCounted) {
  const auto expect = [](const std::vector<std::string>& constraints, auto holds) {
    Builder builder;
    builder.mapping().numbers("A", 1, 2000).numbers("B", 1, 1000);
    for (const std::string& constraint : constraints) builder.constraint(constraint);
    std::int64_t wanted = 0;
    for (int a = 1; a <= 2000; ++a)
      for (int b = 1; b <= 1000; ++b) wanted += holds(a, b) ? 1 : 0;
    EXPECT_EQ(ValidSpecs(builder.space()).size(), wanted) << constraints[0];
  };
  expect({"A > B", "B > A"}, [](int, int) { return false; });
  expect({"A > B"}, [](int a, int b) { return a > b; });
  expect({"A + B == 700"}, [](int a, int b) { return a + b == 700; });
  expect({"A % B == 0"}, [](int a, int b) { return a % b == 0; });
  expect({"A <= 3 * B <= 2 * A"}, [](int a, int b) { return a <= 3 * b && 3 * b <= 2 * a; });
}

TEST(ValidSpecs, OfASumOfProductsAreCountedWhateverTheOrderOfTheParameters) {
  const std::vector<std::vector<std::string>> values = {
      {"17", "31", "59", "101"}, {"13", "37", "61", "97"}, {"19", "29", "53", "89"}};
  constexpr int kProducts = 7;
  constexpr std::int64_t kMost = 20'000;
  const auto values_of = [&](int parameter) { return values[static_cast<std::size_t>(parameter) % values.size()]; };
  Builder builder;
  builder.mapping();
  for (int i = 0; i < 2 * kProducts; ++i) builder.parameter(fmt::format("P{}", i), values_of(i));
  std::string sum;
  std::map<std::int64_t, std::int64_t> ways = {{0, 1}};  // how many points have each sum
  for (int i = 0; i < kProducts; ++i) {
    sum += fmt::format("{}P{} * P{}", i == 0 ? "" : " + ", i, i + kProducts);
    std::map<std::int64_t, std::int64_t> longer;
    for (const auto& [before, count] : ways)
      for (const std::string& left : values_of(i))
        for (const std::string& right : values_of(i + kProducts))
          longer[before + std::stoll(left) * std::stoll(right)] += count;
    ways = std::move(longer);
  }
  std::int64_t wanted = 0;
  for (const auto& [total, count] : ways) wanted += total <= kMost ? count : 0;
  const Space space = builder.constraint(fmt::format("{} <= {}", sum, kMost)).space();
  EXPECT_EQ(space.product_size(), 268'435'456);
  EXPECT_EQ(ValidSpecs(space).size(), wanted);
}

TEST(ValidSpecs, AreSampledWhereTheyCannotBeCounted) {
  Builder builder;
  builder.mapping().numbers("A", 1, 3000).numbers("B", 1, 3000).numbers("C", 1, 3000).numbers("D", 1, 4);
  builder.constraint("(A * A * 7919 + B * B * 104729 + C * C * 1299709) % 1000003 < 500000").constraint("D > 2");
  const Space space = builder.space();
  EXPECT_THROW(ValidSpecs{space}, TooEntangled);
  const auto [points, least, most] = sample_specs(space, {}, 2000);
  ASSERT_EQ(points.size(), 2000U);
  EXPECT_LT(least, 27e9);  // half of all points for which D > 2
  EXPECT_GT(most, 27e9);
  EXPECT_LT(most, 1.1 * least);
  double sum = 0;
  for (const Space::Point& point : points) {
    EXPECT_TRUE(std::holds_alternative<Spec>(space.at(space.spec(point).params)));
    sum += point.digits[1];
  }
  EXPECT_NEAR(sum / 2000, 1500, 100);
  EXPECT_EQ(points, sample_specs(space, {}, 2000).points);
}

TEST(ValidSpecs, ThatAreNotThereAreNotFound) {
  Builder builder;
  builder.mapping().numbers("T", 1, 1000).numbers("U", 1, 1000).numbers("V", 1, 1000);
  builder.constraint("T*U == V*7+3").constraint("T*U > 8000");
  const SpecSample sample = sample_specs(builder.space(), {}, 100);
  EXPECT_TRUE(sample.points.empty());
  EXPECT_EQ(sample.count_text(), "0 to 12300 (95 % confidence)");
}

Builder tiles() {
  Builder builder;
  builder.mapping()
      .parameter("BM", {"64", "16", "32", "128"}, Kind::ratio)
      .parameter("TM", {"1", "2", "4"})
      .parameter("LAYOUT", {"row", "col", "tiled"}, Kind::categorical)
      .constraint("BM // TM <= 32")
      .constraint("LAYOUT != 'col' or TM != 4");
  return builder;
}

TEST(ValidSpecs, AreCountedWhereTheProductCannotBe) {
  Builder builder;
  builder.mapping();
  for (int i = 0; i < 40; ++i) builder.numbers(fmt::format("P{}", i), 1, 10);
  EXPECT_EQ(ValidSpecs(builder.space()).exact_size().text(), "1" + std::string(40, '0'));
  for (int i = 0; i < 40; i += 2) builder.constraint(fmt::format("P{} * P{} == 100 or P{} == 1", i, i + 1, i));
  EXPECT_EQ(ValidSpecs(builder.space()).exact_size().text(), "672749994932560009201");
  EXPECT_EQ(ValidSpecs(builder.space()).size(), std::numeric_limits<std::int64_t>::max());
}

TEST(ValidSpecs, AreFoundAmongMoreThanCanBeWalked) {
  Builder builder;
  builder.mapping();
  for (int i = 0; i < 18; ++i) builder.numbers(fmt::format("P{}", i), 0, 9);
  std::string sum = "P0";
  for (int i = 1; i < 18; ++i) sum += fmt::format(" + P{}", i);
  builder.constraint(sum + " == 161").constraint("P17 != 9");
  const Space space = builder.space();
  const ValidSpecs specs(space);
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(space.spec(specs.at(0)).params.back().value, Value(std::int64_t{8}));
}

TEST(ValidSpecs, StandInMeshOrderWhereNoConstraintConnectsParameters) {
  Builder builder;
  builder.mapping().numbers("A", 1, 3).numbers("B", 1, 4).numbers("C", 1, 5).constraint("B != 2");
  const Space space = builder.space();
  const ValidSpecs specs(space);
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < specs.size(); ++i) {
    const std::int64_t mesh_idx = specs.spec(i).mesh_idx;
    EXPECT_GT(mesh_idx, last);
    last = mesh_idx;
  }
}

TEST(ValidSpecs, AreSampledUniformly) {
  const Space space = tiles().space();
  const ValidSpecs specs(space);
  std::vector<int> hits(static_cast<std::size_t>(specs.size()));
  Random random(7);
  for (int i = 0; i < 1000 * static_cast<int>(hits.size()); ++i) ++hits[static_cast<std::size_t>(specs.sample(random))];
  for (const int hit : hits) EXPECT_NEAR(hit, 1000, 150);
}

TEST(ValidSpecs, AreTheGivenPointsAndNoOthers) {
  const Space space = tiles().space();
  const ValidSpecs specs(space, {{0, {3, 0, 1}}, {0, {0, 1, 0}}, {0, {3, 0, 1}}});
  EXPECT_EQ(specs.size(), 2);
  EXPECT_EQ(text_of(space, specs.at(0)), "BM=64 TM=2 LAYOUT=row");
  EXPECT_FALSE(specs.contains({0, {1, 0, 0}}));
  EXPECT_EQ(specs.index_of({0, {3, 0, 1}}), 1);
}

TEST(ValidSpecs, WithRestrictionsAreThoseThatHaveTheValues) {
  Builder builder = tiles();
  builder.mapping().parameter("TM", {"4"}).parameter("BM", {"64", "96"});
  builder.mapping().parameter("TM", {"4"});
  const Space space = builder.space();
  const auto is_64 = [](const Value& value) { return value == Value(std::int64_t{64}); };
  const ValidSpecs specs(space, {{"BM", is_64}});
  EXPECT_EQ(specs.size(), 3 + 2 + 1);
  for (std::int64_t i = 0; i < specs.size(); ++i) EXPECT_TRUE(is_64(*specs.spec(i).find("BM")));
}

TEST(ValidSpecs, OfASpaceWithoutAnyAreNone) {
  Builder builder;
  builder.mapping().numbers("A", 1, 3).constraint("A // 0 == 1");
  EXPECT_EQ(ValidSpecs(builder.space()).size(), 0);
  EXPECT_EQ(ValidSpecs(Space()).size(), 0);
}

}  // namespace
}  // namespace tune::valid_specs_test

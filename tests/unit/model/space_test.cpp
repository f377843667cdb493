#include "model/space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "model/grid_scan.h"

namespace tune::space_test {
namespace {

using namespace std::string_literals;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

Parameter axis(const std::string& name, const std::vector<const char*>& values) {
  Parameter parameter;
  parameter.name = name;
  for (const char* value : values) parameter.values.push_back(parse_value(value));
  return parameter;
}

/// Writes a space down the way a tuning file does.
class Builder {
 public:
  Builder& fixed(const std::string& name, Value value) {
    const auto slot = static_cast<std::size_t>(names_.declare(name));
    fixed_.resize(slot + 1);
    fixed_[slot] = std::move(value);
    return *this;
  }
  Builder& mapping() {
    mappings_.emplace_back();
    return *this;
  }
  Builder& parameter(Parameter parameter) {
    names_.declare(parameter.name);
    mappings_.back().parameters.push_back(std::move(parameter));
    return *this;
  }
  Builder& parameter(const std::string& name, const std::vector<const char*>& values) {
    return parameter(axis(name, values));
  }
  Builder& let(const std::string& name, const std::string& text) {
    const Expression expression = Expression::parse(text, names_);
    names_.declare(name);
    mappings_.back().derived.push_back({name, expression});
    return *this;
  }
  Builder& constraint(const std::string& text) { return constraint(text, text); }
  Builder& constraint(const std::string& text, const std::string& reason) {
    mappings_.back().constraints.push_back({Expression::parse(text, names_), reason});
    return *this;
  }
  Space space() const { return {names_, fixed_, mappings_}; }

 private:
  Names names_;
  std::vector<Value> fixed_;
  std::vector<Space::Mapping> mappings_;
};

std::string text_of(const Spec& spec) {
  std::string text = fmt::format("{}:", spec.mesh_idx);
  for (const Setting& setting : spec.params) text += fmt::format(" {}={}", setting.name, to_text(setting.value));
  return text;
}

std::string text_of(const std::variant<Spec, Rejection>& point) {
  const auto* const spec = std::get_if<Spec>(&point);
  return spec ? text_of(*spec) : std::get<Rejection>(point).reason;
}

std::vector<std::string> texts_of(GridScan& scan) {
  std::vector<std::string> texts;
  while (const auto spec = scan.next()) texts.push_back(text_of(*spec));
  return texts;
}

std::vector<std::string> walked(const Space& space) {
  GridScan scan(space);
  return texts_of(scan);
}

std::string pruned_text(const GridScan& scan) {
  std::string text;
  for (const GridScan::Pruned& group : scan.pruned()) {
    text += fmt::format("{} x {} from {}; ", group.count, group.reason, group.first_mesh_idx);
  }
  return text;
}

Builder gemm() {
  Builder builder;
  builder.mapping()
      .parameter("M", {"8192"})
      .parameter("N", {"8192"})
      .parameter("K", {"128"})
      .parameter("BM", {"64", "128", "256"})
      .parameter("BN", {"64", "128", "256"})
      .parameter("WM", {"32", "64"})
      .parameter("WN", {"32", "64"})
      .parameter("NUM_STAGES", {"4"})
      .parameter("TRANSPOSE_B", {"True", "False"});
  return builder;
}

Builder two_mappings() {
  Builder builder;
  builder.mapping().parameter("A", {"1", "2"}).parameter("B", {"1", "2", "3"}).constraint("A != B");
  builder.mapping().parameter("A", {"1", "2"}).parameter("C", {"row", "col"}).constraint("A != 1 or C == 'row'");
  return builder;
}

TEST(Space, NumbersTheGemmOfKbenchAsItsDocumentationDoes) {
  const Space space = gemm().space();
  EXPECT_EQ(space.product_size(), 72);
  EXPECT_EQ(text_of(space.at(39)), "39: M=8192 N=8192 K=128 BM=128 BN=128 WM=64 WN=64 NUM_STAGES=4 TRANSPOSE_B=False");
}

TEST(Space, NumbersRowMajorWithTheLastKeyFastest) {
  EXPECT_EQ(walked(Builder().mapping().parameter("A", {"1", "2"}).parameter("B", {"x", "y"}).space()),
            (std::vector<std::string>{"0: A=1 B=x", "1: A=1 B=y", "2: A=2 B=x", "3: A=2 B=y"}));
}

TEST(Space, NumbersAUnionOneMappingAfterTheOther) {
  const Space space = two_mappings().space();
  EXPECT_EQ(space.product_size(), 10);
  EXPECT_EQ(text_of(space.at(5)), "5: A=2 B=3");
  EXPECT_EQ(text_of(space.at(6)), "6: A=1 C=row");
  EXPECT_EQ(text_of(space.at(9)), "9: A=2 C=col");
}

TEST(Space, RejectsWithTheFirstConstraintThatFails) {
  const Space space = Builder()
                          .mapping()
                          .parameter("A", {"1", "2", "3"})
                          .constraint("A != 2", "two")
                          .constraint("A < 2", "many")
                          .space();
  EXPECT_EQ(text_of(space.at(0)), "0: A=1");
  EXPECT_EQ(text_of(space.at(1)), "two");
  EXPECT_EQ(text_of(space.at(2)), "many");
}

TEST(Space, RejectsAPointWhoseConstraintCannotBeEvaluated) {
  const Space space =
      Builder().fixed("K", std::int64_t{64}).mapping().parameter("BK", {"0", "16"}).constraint("K % BK == 0").space();
  EXPECT_EQ(text_of(space.at(0)), "cannot evaluate: division by zero at BK=0");
  EXPECT_EQ(text_of(space.at(1)), "1: BK=16");
}

TEST(Space, RejectsAPointWhoseDerivedValueCannotBeEvaluated) {
  const Space space = Builder().mapping().parameter("BK", {"0", "16"}).let("STEPS", "64 // BK").space();
  EXPECT_EQ(text_of(space.at(0)), "cannot evaluate: division by zero at BK=0");
  EXPECT_EQ(walked(space), std::vector<std::string>{"1: BK=16"});
}

TEST(Space, LetsConstraintsUseDerivedAndFixedValues) {
  const Space space = Builder()
                          .fixed("device.limit", std::int64_t{256})
                          .mapping()
                          .parameter("BM", {"64", "128"})
                          .parameter("TM", {"4", "8"})
                          .let("ROWS", "BM // TM")
                          .let("THREADS", "ROWS * 16")
                          .constraint("THREADS <= device.limit")
                          .space();
  EXPECT_EQ(walked(space), (std::vector<std::string>{"0: BM=64 TM=4", "1: BM=64 TM=8", "3: BM=128 TM=8"}));
}

TEST(Space, FindsThePointOfSettingsInAnyOrder) {
  const Space space = two_mappings().space();
  const std::vector<Setting> settings{{"C", "col"s}, {"A", std::int64_t{2}}};
  EXPECT_EQ(text_of(space.at(settings)), "9: A=2 C=col");
}

TEST(Space, FindsThePointInTheMappingThatHasItsValues) {
  const Space space = Builder().mapping().parameter("M", {"1"}).mapping().parameter("M", {"2"}).space();
  EXPECT_EQ(text_of(space.at(std::vector<Setting>{{"M", std::int64_t{2}}})), "1: M=2");
}

TEST(Space, TakesOneAndOnePointZeroForOneValue) {
  const Space space = Builder().mapping().parameter("ALPHA", {"0.5", "1.0"}).space();
  EXPECT_EQ(text_of(space.at(std::vector<Setting>{{"ALPHA", std::int64_t{1}}})), "1: ALPHA=1.0");
  EXPECT_EQ(text_of(space.at(std::vector<Setting>{{"ALPHA", "1.0"s}})), "-1: ALPHA=1.0");
}

TEST(Space, ChecksSettingsOutsideTheGridByTheConstraintsToo) {
  const Space space = Builder().mapping().parameter("A", {"1", "2"}).constraint("A < 100", "too large").space();
  EXPECT_EQ(text_of(space.at(std::vector<Setting>{{"A", std::int64_t{50}}})), "-1: A=50");
  EXPECT_EQ(text_of(space.at(std::vector<Setting>{{"A", std::int64_t{100}}})), "too large");
}

std::string mismatch(const Space& space, const std::vector<Setting>& settings) {
  try {
    space.at(settings);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Space, NamesAMissingOrUnknownParameter) {
  const Space space = gemm().space();
  std::vector<Setting> settings = std::get<Spec>(space.at(39)).params;
  const Setting last = settings.back();
  settings.pop_back();
  EXPECT_EQ(mismatch(space, settings), "parameter 'TRANSPOSE_B' has no value");
  settings.push_back({"TRANSPOSED_B", last.value});
  EXPECT_EQ(mismatch(space, settings), "unknown parameter 'TRANSPOSED_B', did you mean 'TRANSPOSE_B'?");
  EXPECT_EQ(mismatch(Space(), settings), "the space has no parameters");
}

TEST(Space, GivesTheEnvironmentOfASpec) {
  const Space space = Builder()
                          .fixed("m", std::int64_t{4096})
                          .mapping()
                          .parameter("BM", {"64", "128"})
                          .let("BLOCKS", "m // BM")
                          .space();
  const std::vector<Value> slots = space.environment(std::get<Spec>(space.at(1)));
  ASSERT_EQ(slots.size(), 3U);
  EXPECT_EQ(slots[0], Value(std::int64_t{4096}));
  EXPECT_EQ(slots[1], Value(std::int64_t{128}));
  EXPECT_EQ(slots[2], Value(std::int64_t{32}));
  EXPECT_EQ(space.environment(Spec())[0], Value(std::int64_t{4096}));
}

TEST(Space, MarksDerivedValuesThatDependOnRunTimeParameters) {
  Parameter split = axis("SPLIT_K", {"2"});
  split.run_time = true;
  const Space space = Builder()
                          .mapping()
                          .parameter(split)
                          .parameter("BK", {"16"})
                          .let("STEP", "BK * 2")
                          .let("SLICE", "SPLIT_K * BK")
                          .let("SLICES", "SLICE * 2")
                          .space();
  const Spec spec = std::get<Spec>(space.at(0));
  EXPECT_TRUE(spec.params[0].run_time);
  const std::vector<Setting> derived = space.derived(spec);
  ASSERT_EQ(derived.size(), 3U);
  EXPECT_EQ(derived[0].name, "STEP");
  EXPECT_EQ(derived[0].value, Value(std::int64_t{32}));
  EXPECT_FALSE(derived[0].run_time);
  EXPECT_TRUE(derived[1].run_time);
  EXPECT_EQ(derived[2].value, Value(std::int64_t{64}));
  EXPECT_TRUE(derived[2].run_time);
}

TEST(Space, FindsTheValueOfAParameterByName) {
  const Spec spec = std::get<Spec>(gemm().space().at(39));
  ASSERT_NE(spec.find("BM"), nullptr);
  EXPECT_EQ(*spec.find("BM"), Value(std::int64_t{128}));
  EXPECT_EQ(spec.find("bm"), nullptr);
}

TEST(Space, HasOnePointWithoutParametersAndNoneWithoutValues) {
  EXPECT_EQ(Space().product_size(), 0);
  EXPECT_EQ(walked(Space()), std::vector<std::string>{});
  const Space single = Builder().mapping().space();
  EXPECT_EQ(single.product_size(), 1);
  EXPECT_EQ(walked(single), std::vector<std::string>{"0:"});
  const Space empty = Builder().mapping().parameter("A", {"1", "2"}).parameter("B", {}).space();
  EXPECT_EQ(empty.product_size(), 0);
  EXPECT_EQ(walked(empty), std::vector<std::string>{});
}

TEST(Space, SkipsAMappingWithoutPoints) {
  const Space space = Builder().mapping().parameter("A", {}).mapping().parameter("B", {"7"}).space();
  EXPECT_EQ(text_of(space.at(0)), "0: B=7");
  EXPECT_EQ(walked(space), std::vector<std::string>{"0: B=7"});
}

/// `count` parameters P0, P1, ... of 16 values each.
Builder wide(int count) {
  Builder builder;
  builder.mapping();
  for (int i = 0; i < count; ++i) {
    Parameter parameter = axis(fmt::format("P{}", i), {});
    for (std::int64_t value = 0; value < 16; ++value) parameter.values.emplace_back(value);
    builder.parameter(std::move(parameter));
  }
  return builder;
}

TEST(Space, KnowsWhenItsProductExceeds63Bits) {
  EXPECT_EQ(wide(15).space().product_size(), std::int64_t{1} << 60);
  EXPECT_EQ(wide(16).space().product_size(), std::nullopt);
}

TEST(Space, IsEmptyWithoutValuesHoweverLargeItsOtherParametersMakeIt) {
  Space::Mapping mapping = wide(30).space().mappings()[0];
  mapping.parameters.insert(mapping.parameters.begin(), axis("EMPTY", {}));
  EXPECT_EQ(Space(Names(), {}, {mapping}).product_size(), 0);
}

TEST(Space, AddsUpMappingsWithoutOverflow) {
  const Space one = wide(15).space();
  const std::vector<Space::Mapping> seven(7, one.mappings()[0]);
  const std::vector<Space::Mapping> eight(8, one.mappings()[0]);
  EXPECT_EQ(Space(one.names(), {}, seven).product_size(), 7 * (std::int64_t{1} << 60));
  EXPECT_EQ(Space(one.names(), {}, eight).product_size(), std::nullopt);
}

TEST(Space, FindsPointsOfAProductThatExceeds63Bits) {
  const Space space = wide(20).space();
  const Spec last = std::get<Spec>(space.at(kLargest));
  EXPECT_EQ(*last.find("P19"), Value(std::int64_t{15}));
  EXPECT_EQ(*last.find("P4"), Value(std::int64_t{7}));
  EXPECT_EQ(*last.find("P3"), Value(std::int64_t{0}));
  EXPECT_EQ(std::get<Spec>(space.at(last.params)).mesh_idx, kLargest);
}

TEST(GridScan, CountsWhatEachConstraintPruned) {
  const Space space = Builder()
                          .mapping()
                          .parameter("A", {"1", "2", "3", "4"})
                          .parameter("B", {"1", "2", "3"})
                          .constraint("A + B != 4", "four")
                          .constraint("A < 4", "large")
                          .space();
  GridScan scan(space);
  EXPECT_EQ(texts_of(scan).size(), 6U);
  EXPECT_EQ(pruned_text(scan), "3 x four from 2; 3 x large from 9; ");
  EXPECT_EQ(scan.position(), 12);
}

TEST(GridScan, CountsOneReasonOnceForAllMappings) {
  const Space space = Builder()
                          .mapping()
                          .parameter("A", {"1", "2"})
                          .constraint("A == 1", "only one")
                          .mapping()
                          .parameter("A", {"2", "3"})
                          .parameter("B", {"1"})
                          .constraint("A == 1", "only one")
                          .space();
  GridScan scan(space);
  EXPECT_EQ(texts_of(scan), std::vector<std::string>{"0: A=1"});
  EXPECT_EQ(pruned_text(scan), "3 x only one from 1; ");
}

TEST(GridScan, CountsFailuresOfOneExpressionTogether) {
  const Space space = Builder()
                          .mapping()
                          .parameter("A", {"0", "1"})
                          .parameter("B", {"5", "6"})
                          .constraint("10 % (A * B) == 0", "remainder")
                          .space();
  GridScan scan(space);
  EXPECT_EQ(texts_of(scan), std::vector<std::string>{"2: A=1 B=5"});
  EXPECT_EQ(pruned_text(scan), "2 x cannot evaluate: division by zero at A=0, B=5 from 0; 1 x remainder from 3; ");
}

TEST(GridScan, SaysWhereItIs) {
  const Space space = Builder().mapping().parameter("A", {"1", "2", "3", "4"}).constraint("A % 2 == 0").space();
  GridScan scan(space);
  EXPECT_EQ(scan.position(), 0);
  EXPECT_EQ(scan.next()->mesh_idx, 1);
  EXPECT_EQ(scan.position(), 2);
  EXPECT_EQ(scan.next()->mesh_idx, 3);
  EXPECT_EQ(scan.next(), std::nullopt);
  EXPECT_EQ(scan.next(), std::nullopt);
  EXPECT_EQ(scan.position(), 4);
}

/// Constraints of every depth, some of which cannot be evaluated, over parameters of several kinds.
Builder rugged() {
  Builder builder = two_mappings();
  builder.fixed("K", 0.0);
  builder.mapping()
      .parameter("D", {"0", "1", "2", "3"})
      .parameter("E", {"x", "y", "3"})
      .parameter("F", {"1", "2", "3"})
      .parameter("G", {"-1", "0", "1"})
      .let("H", "12 // (D - F)")
      .let("I", "H + G")
      .constraint("E != 'y' or D != 1", "early")
      .constraint("I % 3 != G", "late")
      .constraint("D != 2", "outermost, but checked after a late one")
      .constraint("E < F if D == 3 else True", "types")
      .constraint("F + G", "truth of a number");
  builder.mapping().parameter("J", {"1", "2"}).parameter("L", {"1", "2"}).constraint("K", "never");
  return builder;
}

TEST(GridScan, AgreesWithEveryPointLookedUpAlone) {
  const Space space = rugged().space();
  std::vector<std::string> valid;
  std::int64_t rejected = 0;
  for (std::int64_t i = 0; i < *space.product_size(); ++i) {
    const auto point = space.at(i);
    if (std::holds_alternative<Spec>(point)) {
      valid.push_back(text_of(point));
    } else {
      ++rejected;
    }
  }
  GridScan scan(space);
  EXPECT_EQ(texts_of(scan), valid);
  EXPECT_EQ(scan.position(), *space.product_size());
  std::int64_t counted = 0;
  for (const GridScan::Pruned& group : scan.pruned()) {
    counted += group.count;
    EXPECT_EQ(text_of(space.at(group.first_mesh_idx)), group.reason);
  }
  EXPECT_EQ(counted, rejected);
}

TEST(GridScan, CountsEachReasonAsOftenAsItRejectsAPoint) {
  const Space space = rugged().space();
  GridScan scan(space);
  texts_of(scan);
  for (const GridScan::Pruned& group : scan.pruned()) {
    if (group.reason.starts_with("cannot evaluate")) continue;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < *space.product_size(); ++i) count += text_of(space.at(i)) == group.reason ? 1 : 0;
    EXPECT_EQ(group.count, count) << group.reason;
  }
}

TEST(GridScan, PassesOverLargePartsThatOneConstraintRejects) {
  const Space space =
      wide(15).constraint("P0 == 15 and P1 == 15", "corner").constraint("P14 == 3 and P13 == 2").space();
  GridScan scan(space);
  const auto spec = scan.next();
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->mesh_idx, 255 * (std::int64_t{1} << 52) + 2 * 16 + 3);
  EXPECT_EQ(scan.pruned()[0].count, 255 * (std::int64_t{1} << 52));
}

TEST(GridScan, GoesAsFarAs63BitsReach) {
  const Space space = wide(20).constraint("P19 == 1").space();
  GridScan scan(space);
  EXPECT_EQ(scan.next()->mesh_idx, 1);
  EXPECT_EQ(scan.next()->mesh_idx, 17);
  const Space rejected = wide(20).constraint("P5 > 100", "all").space();
  GridScan through(rejected);
  EXPECT_EQ(through.next(), std::nullopt);
  EXPECT_EQ(through.position(), kLargest);
  EXPECT_EQ(through.pruned()[0].count, kLargest);
}

// Looked for one after the other, they would take minutes.
TEST(Space, ManyParametersAreFoundByTheirNames) {
  constexpr int kCount = 50'000;
  Builder builder;
  builder.mapping();
  for (int i = 0; i < kCount; ++i) builder.parameter("P" + std::to_string(i), {"1", "2"});
  const Space space = builder.space();
  std::vector<Setting> settings;
  for (int i = kCount; i-- > 0;) settings.push_back({"P" + std::to_string(i), std::int64_t{2 - i % 2}});
  const Spec spec = std::get<Spec>(space.at(settings));
  EXPECT_EQ(spec.params[1].name, "P1");
  EXPECT_EQ(std::get<std::int64_t>(spec.params[1].value), 1);
  EXPECT_EQ(space.point(Spec{-1, settings})->digits[0], 1U);
  EXPECT_EQ(space.environment(spec).size(), std::size_t{kCount});
  EXPECT_TRUE(holds(spec, settings));
  settings.front().name = "Q";
  EXPECT_THROW(space.at(settings), std::invalid_argument);
}

}  // namespace
}  // namespace tune::space_test

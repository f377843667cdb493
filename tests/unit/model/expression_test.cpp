#include "model/expression/expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace tune::expression_test {
namespace {

using namespace std::string_literals;

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

/// The names that the tests' expressions may use, and their values.
class SymbolTable {
 public:
  SymbolTable() {
    set("BM", std::int64_t{128});
    set("BN", std::int64_t{64});
    set("ZERO", std::int64_t{0});
    set("MINUS", std::int64_t{-7});
    set("SMALLEST", kSmallest);
    set("HUGE", std::int64_t{1} << 53);
    set("HALF", 0.5);
    set("RASTER", "row"s);
    set("NOTHING", ""s);
    set("CLUSTER", Pair{2, 1});
    set("TRANSPOSE", Bool{true, true});
    set("device.cores", std::int64_t{16});
  }
  void set(const std::string& name, Value value) {
    names.declare(name);
    slots.push_back(std::move(value));
  }
  Names names;
  std::vector<Value> slots;
};

/// The value as text with its kind where that is not plain from it, or what went wrong.
std::string value_of(const std::string& text) {
  const SymbolTable scope;
  EvalFailure failure;
  const Expression expression = Expression::parse(text, scope.names);
  const Value value = expression.evaluate(scope.slots, failure);
  if (failure) return expression.explain(failure, scope.slots);
  return std::holds_alternative<std::string>(value) ? fmt::format("'{}'", to_text(value)) : to_text(value);
}

TEST(Expression, AnErrorKeepsItsCauseItsAdviceAndTheUnknownNameApart) {
  try {
    Expression::parse("1 + bn", SymbolTable().names);
    FAIL();
  } catch (const UnknownName& error) {
    EXPECT_EQ(error.name(), "bn");
    EXPECT_EQ(error.cause(), "unknown name 'bn'");
    EXPECT_EQ(error.advice(), ", did you mean 'BN'?");
  }
  try {
    Expression::parse("maxi(1)", SymbolTable().names);
    FAIL();
  } catch (const UnknownName&) {
    FAIL() << "a function is no name of a value";
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.cause(), "unknown function 'maxi'");
    EXPECT_EQ(error.advice(), ", did you mean 'max'?");
  }
}

/// `column: message` of the ExpressionError.
std::string error_of(const std::string& text) {
  try {
    Expression::parse(text, SymbolTable().names);
  } catch (const ExpressionError& error) {
    return fmt::format("{}: {}", error.column(), error.what());
  }
  return "no error";
}

struct Case {
  const char* text;
  const char* expected;
};

void expect_values(std::initializer_list<Case> cases) {
  for (const Case& each : cases) EXPECT_EQ(value_of(each.text), each.expected) << each.text;
}

void expect_errors(std::initializer_list<Case> cases) {
  for (const Case& each : cases) EXPECT_EQ(error_of(each.text), each.expected) << each.text;
}

TEST(Expression, FollowsPythonsPrecedence) {
  expect_values({{"2 + 3 * 4", "14"},
                 {"(2 + 3) * 4", "20"},
                 {"10 - 4 - 3", "3"},
                 {"100 // 10 // 3", "3"},
                 {"-2 ** 2", "-4"},
                 {"(-2) ** 2", "4"},
                 {"2 ** 3 ** 2", "512"},
                 {"2 ** -1", "0.5"},
                 {"- - 3", "3"},
                 {"+BM", "128"},
                 {"-BM", "-128"},
                 {"--BM", "128"},
                 {"1 + 1 == 2", "True"},
                 {"not 1 == 2", "True"},
                 {"not not 3", "True"},
                 {"False and False or True", "True"},
                 {"True or True and False", "True"},
                 {"1 if 0 else 2 if 0 else 3", "3"},
                 {"BM - BN * 2 == 0 and BM > BN", "True"}});
}

TEST(Expression, RoundsQuotientsDownAndGivesRemaindersTheDivisorsSign) {
  expect_values({{"7 // 2", "3"},        {"-7 // 2", "-4"},
                 {"7 // -2", "-4"},      {"-7 // -2", "3"},
                 {"7 % 3", "1"},         {"-7 % 3", "2"},
                 {"7 % -3", "-2"},       {"-7 % -3", "-1"},
                 {"MINUS // 2", "-4"},   {"MINUS % 3", "2"},
                 {"6 % -3", "0"},        {"-6 // 3", "-2"},
                 {"7.5 // 2", "3.0"},    {"-7.5 // 2", "-4.0"},
                 {"-7.5 % 2", "0.5"},    {"7.5 % -2", "-0.5"},
                 {"1 // 0.1", "9.0"},    {"2798206047729293 // 0.7 == 3997437211041846", "True"},
                 {"6.0 % 3", "0.0"},     {"5000000000 // 3", "1666666666"},
                 {"5000000000 % 7", "2"}});
}

TEST(Expression, DividesToAFloat) {
  expect_values({{"6 / 3", "2.0"}, {"1 / 4", "0.25"}, {"-1 / 2", "-0.5"}, {"HALF / 2", "0.25"}});
}

TEST(Expression, MixesIntegersBooleansAndFloats) {
  expect_values({{"1 + HALF", "1.5"},
                 {"True + True", "2"},
                 {"TRANSPOSE * 3", "3"},
                 {"-True", "-1"},
                 {"+True", "1"},
                 {"2 ** 0.5 < 1.5", "True"},
                 {"1 == 1.0", "True"},
                 {"True == 1", "True"},
                 {"abs(-HALF)", "0.5"},
                 {"1e3", "1000.0"},
                 {"0x10 + .5", "16.5"}});
}

TEST(Expression, ComparesIntegersWithFloatsExactly) {
  expect_values({{"HUGE + 1 == 9007199254740992.0", "False"},
                 {"HUGE + 1 > 9007199254740992.0", "True"},
                 {"9007199254740992.0 < HUGE + 1", "True"},
                 {"9223372036854775807 < 9223372036854775808.0", "True"},
                 {"SMALLEST == -9223372036854775808.0", "True"},
                 {"SMALLEST > -1e300", "True"},
                 {"1 < 1.5", "True"},
                 {"-1 > -1.5", "True"}});
}

TEST(Expression, ComputesPowersOfIntegersExactly) {
  expect_values({{"3 ** 39", "4052555153018976267"},
                 {"(-2) ** 63", "-9223372036854775808"},
                 {"0 ** 0", "1"},
                 {"(-1) ** 9223372036854775807", "-1"},
                 {"MINUS ** 3", "-343"},
                 {"4 ** HALF", "2.0"}});
}

TEST(Expression, ChainsComparisons) {
  expect_values({{"1 < 2 < 3", "True"},
                 {"1 < 3 < 2", "False"},
                 {"3 > 2 >= 2 == 2 != 1", "True"},
                 {"1 < 2 < 3 < 3", "False"},
                 {"BN < BM <= 128", "True"},
                 {"0 == 1 < 1 // ZERO", "False"},
                 {"(1 < 2) < 3", "True"},
                 {"(3 < 2) == 0", "True"},
                 {"'a' < 'b' < 'c'", "True"}});
}

TEST(Expression, ReturnsTheDecidingOperandOfAndAndOr) {
  expect_values({{"0 or 5", "5"},
                 {"3 or 5", "3"},
                 {"3 and 5", "5"},
                 {"0 and 5", "0"},
                 {"NOTHING or RASTER", "'row'"},
                 {"RASTER and BM", "128"},
                 {"0 or NOTHING or 0.0", "0.0"},
                 {"1 and CLUSTER", "[2, 1]"},
                 {"BM > BN and 7", "7"},
                 {"BM < BN or 0", "0"}});
}

TEST(Expression, EvaluatesOnlyWhatItNeeds) {
  expect_values({{"ZERO != 0 and BM // ZERO > 1", "False"},
                 {"ZERO == 0 or BM // ZERO > 1", "True"},
                 {"1 if ZERO == 0 else BM // ZERO", "1"},
                 {"BM // ZERO if ZERO else 2", "2"},
                 {"1 > 2 > 1 // ZERO", "False"}});
}

TEST(Expression, ChoosesByACondition) {
  expect_values({{"BM if BM > BN else BN", "128"},
                 {"(BM if BM < BN else BN) + 1", "65"},
                 {"1 + (2 if RASTER == 'row' else 3)", "3"},
                 {"(1 if True else 2 if True else 3)", "1"},
                 {"(BM or 1 if BN and 0 else ZERO or 9)", "9"},
                 {"-(1 if ZERO else 2)", "-2"},
                 {"max(1 if ZERO else 2, 0 if BM else 5)", "2"}});
}

TEST(Expression, LooksForValuesInListsTuplesPairsAndTexts) {
  expect_values({{"BM in [64, 128]", "True"},
                 {"BM in (64, 256)", "False"},
                 {"BM not in [64]", "True"},
                 {"not BM in [64]", "True"},
                 {"BM in []", "False"},
                 {"BM in (128,)", "True"},
                 {"RASTER in ['row', 'col']", "True"},
                 {"RASTER in [1, 'col']", "False"},
                 {"CLUSTER in [[1, 1], [2, 1]]", "True"},
                 {"CLUSTER in [(1, 1), (1, 2)]", "False"},
                 {"1 in CLUSTER", "True"},
                 {"3 not in CLUSTER", "True"},
                 {"'ow' in RASTER", "True"},
                 {"'x' in ('xyz')", "True"},
                 {"1.0 in [BM, BN // 64]", "True"},
                 {"(BM < 256) in [0, 1]", "True"},
                 {"BM in [1] or BM in [128] and True", "True"}});
}

TEST(Expression, ComparesTexts) {
  expect_values({{"RASTER == 'row'", "True"},
                 {"RASTER != \"row\"", "False"},
                 {"'a' < 'b'", "True"},
                 {"'a' == 1", "False"},
                 {"'it\\'s' == \"it's\"", "True"},
                 {"min('b', 'a')", "'a'"}});
}

TEST(Expression, TakesPairsApartAndComparesThem) {
  expect_values({{"CLUSTER[0]", "2"},
                 {"CLUSTER[1]", "1"},
                 {"CLUSTER[-1]", "1"},
                 {"CLUSTER[-2]", "2"},
                 {"CLUSTER[0] * CLUSTER[1] ** 2", "2"},
                 {"CLUSTER == [2, 1]", "True"},
                 {"CLUSTER == (BM // 64, 2)", "False"},
                 {"CLUSTER < [2, 2]", "True"},
                 {"CLUSTER != 2", "True"},
                 {"CLUSTER[BM == 0]", "2"}});
}

TEST(Expression, KnowsMinMaxAbsAndCeilDiv) {
  expect_values({{"min(3, 1, 2)", "1"},
                 {"max(3, 1, 7, 2)", "7"},
                 {"max(1, 1.0)", "1"},
                 {"min(True, 2)", "True"},
                 {"min(2, BM > BN)", "True"},
                 {"min(1 < 2, BM + 1)", "True"},
                 {"abs(MINUS)", "7"},
                 {"abs(True)", "1"},
                 {"ceil_div(7, 2)", "4"},
                 {"ceil_div(8, 2)", "4"},
                 {"ceil_div(0, 2)", "0"},
                 {"ceil_div(-7, 2)", "-3"},
                 {"ceil_div(7, -2)", "-3"},
                 {"ceil_div(-7, -2)", "4"},
                 {"ceil_div(7.5, 2)", "4.0"},
                 {"ceil_div(1, 10.0 ** 308 * 10)", "1.0"},
                 {"-1 // (10.0 ** 308 * 10)", "-1.0"},
                 {"1 // (10.0 ** 308 * 10)", "0.0"}});
}

TEST(Expression, KnowsDottedNamesAndTheDollarOfRunTimeParameters) {
  expect_values({{"device.cores * 2", "32"}, {"$BM + 1", "129"}});
}

TEST(Expression, DetectsEveryOverflow) {
  for (const char* text :
       {"SMALLEST - 1", "SMALLEST + -1", "SMALLEST * 2", "SMALLEST // -1", "-SMALLEST", "abs(SMALLEST)",
        "2 ** 63 + SMALLEST", "SMALLEST ** 2", "ceil_div(SMALLEST, -1)", "10.0 ** 400 + SMALLEST", "(-SMALLEST) % 3"}) {
    EXPECT_TRUE(value_of(text).starts_with("overflow")) << text << ": " << value_of(text);
  }
  expect_values({{"SMALLEST % -1", "0"}, {"-9223372036854775807 - 1", "-9223372036854775808"}});
}

TEST(Expression, ExplainsADivisionByZeroWithTheDivisorsNames) {
  expect_values({{"BM // ZERO", "division by zero at ZERO=0"},
                 {"BM % (BN * ZERO)", "division by zero at BN=64, ZERO=0"},
                 {"BM / ZERO", "division by zero at ZERO=0"},
                 {"ceil_div(BM, ZERO + ZERO)", "division by zero at ZERO=0"},
                 {"1 + ceil_div(BM, 0)", "division by zero in 'ceil_div(BM, 0)'"},
                 {"BM // 0.0", "division by zero in 'BM // 0.0'"},
                 {"1 + BM % ZERO", "division by zero at ZERO=0"}});
}

TEST(Expression, ExplainsOtherFailuresWithTheNamesOfTheFailingPart) {
  expect_values({{"BN + BM * SMALLEST", "overflow at BM=128, SMALLEST=-9223372036854775808"},
                 {"10 ** 19", "overflow in '10 ** 19'"},
                 {"BM + RASTER", "a text is not a number at BM=128, RASTER=row"},
                 {"BM if RASTER < 1 else BN", "a text is not a number at RASTER=row"},
                 {"-CLUSTER", "a pair is not a number at CLUSTER=[2, 1]"},
                 {"+RASTER", "a text is not a number at RASTER=row"},
                 {"CLUSTER[2]", "a pair has the subscripts 0 and 1 at CLUSTER=[2, 1]"},
                 {"CLUSTER[0.5]", "a subscript is an integer at CLUSTER=[2, 1]"},
                 {"BM[0]", "only a pair has subscripts at BM=128"},
                 {"1 in RASTER", "only a text can be in a text at RASTER=row"},
                 {"1 in BM", "'in' needs a list, a pair or a text, which a number is not at BM=128"},
                 {"ZERO ** MINUS", "zero has no negative power at ZERO=0, MINUS=-7"},
                 {"MINUS ** HALF", "a negative number has no power with a fraction at MINUS=-7, HALF=0.5"},
                 {"1 < BM < RASTER", "a text is not a number at BM=128, RASTER=row"},
                 {"(1 if HALF else BM) - RASTER", "a text is not a number at HALF=0.5, BM=128, RASTER=row"}});
}

TEST(Expression, HoldsByPythonsTruth) {
  const SymbolTable scope;
  for (const auto& [text, expected] : std::vector<std::pair<std::string, bool>>{{"BM", true},
                                                                                {"ZERO", false},
                                                                                {"HALF", true},
                                                                                {"0.0", false},
                                                                                {"RASTER", true},
                                                                                {"NOTHING", false},
                                                                                {"CLUSTER", true},
                                                                                {"BM < BN", false}}) {
    EvalFailure failure;
    EXPECT_EQ(Expression::parse(text, scope.names).holds(scope.slots, failure), expected) << text;
    EXPECT_FALSE(failure) << text;
  }
}

TEST(Expression, DoesNotHoldWhereItFails) {
  const SymbolTable scope;
  EvalFailure failure;
  EXPECT_FALSE(Expression::parse("1 // ZERO or True", scope.names).holds(scope.slots, failure));
  EXPECT_STREQ(failure.what, "division by zero");
}

std::string integer_of(const std::string& text) {
  const SymbolTable scope;
  EvalFailure failure;
  const Expression expression = Expression::parse(text, scope.names);
  const std::int64_t value = expression.integer(scope.slots, failure);
  return failure ? expression.explain(failure, scope.slots) : std::to_string(value);
}

TEST(Expression, GivesAnIntegerOnlyForIntegers) {
  EXPECT_EQ(integer_of("BM // BN"), "2");
  EXPECT_EQ(integer_of("BM / BN"), "not an integer (`//` divides integers) at BM=128, BN=64");
  EXPECT_EQ(integer_of("BM == BN"), "a truth value is not a number at BM=128, BN=64");
  EXPECT_EQ(integer_of("RASTER"), "a text is not a number at RASTER=row");
  EXPECT_EQ(integer_of("CLUSTER"), "a pair is not a number at CLUSTER=[2, 1]");
  EXPECT_EQ(integer_of("1 // ZERO"), "division by zero at ZERO=0");
}

TEST(Expression, GivesANumberForIntegersAndFloats) {
  const SymbolTable scope;
  const auto number_of = [&](const char* text, EvalFailure& failure) {
    return Expression::parse(text, scope.names).number(scope.slots, failure);
  };
  EvalFailure none;
  EXPECT_EQ(number_of("BM", none), 128);
  EXPECT_EQ(number_of("HALF", none), 0.5);
  EXPECT_FALSE(none);
  for (const char* text : {"TRANSPOSE", "RASTER", "CLUSTER", "1 / ZERO"}) {
    EvalFailure failure;
    number_of(text, failure);
    EXPECT_TRUE(failure) << text;
  }
}

TEST(Expression, TellsWhatWasExpected) {
  expect_errors({{"", "0: expected a value before end"},
                 {"BM +", "4: expected a value before end"},
                 {"(BM", "3: expected ')' before end"},
                 {"BM)", "2: expected an operator before ')'"},
                 {"BM BN", "3: expected an operator before 'BN'"},
                 {"* 2", "0: expected a value before '*'"},
                 {"1 if 2", "6: expected 'else' before end"},
                 {"CLUSTER[0", "9: expected ']' before end"},
                 {"min(1, )", "7: expected a value before ')'"},
                 {"abs(1", "5: expected ')' before end"},
                 {"BM in [1 2]", "9: expected ',' or ']' before '2'"},
                 {"BM not 3", "7: expected 'in' before '3'"},
                 {"BM and or", "7: expected a value before 'or'"},
                 {"[1]", "2: expected ',' before ']'"},
                 {"'row", "0: expected ' before end"},
                 {"'a' 'b'", "4: expected an operator before ''b''"}});
}

TEST(Expression, NamesTheWordsOfOtherLanguages) {
  expect_errors({{"BM && BN", "3: unexpected '&&', use 'and'"},
                 {"BM || BN", "3: unexpected '||', use 'or'"},
                 {"!BM", "0: unexpected '!', use 'not'"},
                 {"BM = 3", "3: unexpected '=', use '=='"},
                 {"BM ? 1 : 2", "3: unexpected '?', use 'a if condition else b'"},
                 {"BM & 1", "3: unexpected character '&'"}});
}

TEST(Expression, SuggestsTheNearestName) {
  expect_errors({{"BMM % 8 == 0", "0: unknown name 'BMM', did you mean 'BM'?"},
                 {"1 + bn", "4: unknown name 'bn', did you mean 'BN'?"},
                 {"Raster == 'row'", "0: unknown name 'Raster', did you mean 'RASTER'?"},
                 {"device.core", "0: unknown name 'device.core', did you mean 'device.cores'?"},
                 {"true", "0: unknown name 'true', did you mean 'True'?"},
                 {"WARPS", "0: unknown name 'WARPS'"},
                 {"RASTER == column", "10: unknown name 'column'"},
                 {"mim(1, 2)", "0: unknown function 'mim', did you mean 'min'?"},
                 {"Max(1, 2)", "0: unknown function 'Max', did you mean 'max'?"},
                 {"BM(1)", "0: unknown function 'BM'; there are abs, ceil_div, min, max"}});
}

TEST(Expression, ChecksTheNumberOfArguments) {
  expect_errors({{"min(1)", "0: 'min' takes two arguments or more"},
                 {"abs(1, 2)", "0: 'abs' takes one argument"},
                 {"ceil_div(1)", "0: 'ceil_div' takes two arguments"},
                 {"1 + ceil_div(1, 2, 3)", "4: 'ceil_div' takes two arguments"}});
}

TEST(Expression, RejectsNumbersItCannotHold) {
  expect_errors({{"9223372036854775808", "0: 9223372036854775808 does not fit 64 bits"},
                 {"010", "0: '010' is not a number"},
                 {"12abc", "0: '12abc' is not a number"},
                 {"1e", "0: '1e' is not a number"},
                 {"1.2.3", "0: '1.2.3' is not a number"}});
}

TEST(Expression, RejectsListsWhereTheyMeanNothing) {
  expect_errors({{"[1, 2, 3] == BM", "0: a list of more than two can only stand after 'in'"},
                 {"BM in [1] in [2]", "10: a comparison after 'in' needs parentheses"},
                 {"BM in [1] == True", "10: a comparison after 'in' needs parentheses"},
                 {"1 < BM in [2]", "7: a comparison with 'in' needs parentheses"},
                 {"'a\\n'", "2: a backslash can only stand before a quote or a backslash"}});
}

std::string repeated(const char* text, int times) {
  std::string joined;
  for (int i = 0; i < times; ++i) joined += text;
  return joined;
}

TEST(Expression, RefusesDeepNestingInsteadOfExhaustingTheStack) {
  for (const std::string& text :
       {repeated("(", 10'000) + "1" + repeated(")", 10'000), repeated("-", 10'000) + "1",
        repeated("not ", 10'000) + "1", repeated("2**", 10'000) + "1", repeated("abs(", 10'000), repeated("[", 10'000),
        repeated("1 if 1 else ", 10'000) + "1", repeated("CLUSTER[", 10'000)}) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.ends_with(": nested too deeply")) << text.substr(0, 10) << " " << error;
  }
}

TEST(Expression, TakesManyTermsAndReasonableDepth) {
  EXPECT_EQ(value_of("0"s + repeated(" + 1", 10'000)), "10000");
  EXPECT_EQ(value_of(repeated("(", 60) + "1" + repeated(")", 60)), "1");
  EXPECT_EQ(value_of("BM in ["s + repeated("1, ", 1000) + "128]"), "True");
  EXPECT_EQ(value_of(repeated("1 + (", 50) + "1" + repeated(")", 50)), "51");
  EXPECT_EQ(value_of(repeated("HALF + (", 50) + "1" + repeated(")", 50)), "26.0");
}

TEST(Expression, ListsTheSlotsItUses) {
  const SymbolTable scope;
  const Expression expression = Expression::parse("BN * BM + BM if HALF else 0", scope.names);
  const std::vector<int> expected{0, 1, 6};
  EXPECT_EQ(std::vector<int>(expression.used_slots().begin(), expression.used_slots().end()), expected);
  EXPECT_EQ(expression.text(), "BN * BM + BM if HALF else 0");
}

TEST(Names, GiveEachNameOneSlot) {
  Names names;
  EXPECT_EQ(names.declare("M"), 0);
  EXPECT_EQ(names.declare("N"), 1);
  EXPECT_EQ(names.declare("M"), 0);
  EXPECT_EQ(names.size(), 2);
  EXPECT_EQ(names.at(1), "N");
  EXPECT_EQ(names.find("N"), 1);
  EXPECT_EQ(names.find("n"), std::nullopt);
}

TEST(Names, FindNothingNearAWordUnlikeAll) {
  Names names;
  names.declare("NUM_STAGES");
  EXPECT_EQ(names.nearest("NUM_STAGE"), "NUM_STAGES");
  EXPECT_EQ(names.nearest("nunstages"), "NUM_STAGES");
  EXPECT_EQ(names.nearest("NMU_STAGES"), "NUM_STAGES");
  EXPECT_EQ(names.nearest("x"), "");
  EXPECT_EQ(names.nearest("warps"), "");
}

}  // namespace
}  // namespace tune::expression_test

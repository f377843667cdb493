#include "fuzz_expressions.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <utility>

#include "fuzz_readers.h"
#include "model/expression/expression.h"

namespace tune::fuzz {
namespace {

/// The names of oracle.py.
struct SymbolTable {
  SymbolTable() {
    const auto set = [this](const char* name, Value value) {
      names.declare(name);
      slots.push_back(std::move(value));
    };
    set("BM", std::int64_t{128});
    set("BN", std::int64_t{-7});
    set("ZERO", std::int64_t{0});
    set("SMALLEST", std::numeric_limits<std::int64_t>::min());
    set("LARGEST", std::numeric_limits<std::int64_t>::max());
    set("HALF", 0.5);
    set("TINY", -1e-300);
    set("RASTER", std::string("row"));
    set("NOTHING", std::string());
    set("CLUSTER", Pair{2, 1});
    set("FLAG", Bool{true});
    set("device.cores", std::int64_t{16});
  }
  Names names;
  std::vector<Value> slots;
};

const SymbolTable& scope() {
  static const SymbolTable kScope;
  return kScope;
}

class Writer {
 public:
  explicit Writer(Dice& dice) : dice_(&dice) {}

  std::string expression(int depth) {
    if (depth <= 0 || dice_->once_in(6)) return atom();
    // One after the other, so that every compiler throws the same dice.
    const std::size_t form = dice_->below(14);
    const std::string_view sign = dice_->any(kArithmetic), comparison = dice_->any(kComparisons);
    const std::string_view function = dice_->any(kTwo), in = dice_->once_in(2) ? "in" : "not in";
    const std::string x = expression(depth - 1), y = expression(depth - 1), z = expression(depth - 1);
    switch (form) {
      case 0:
      case 1:
        return fmt::format("{} {} {}", x, sign, y);
      case 2:
        return fmt::format("{}{}{}", x, sign, y);
      case 3:
        return fmt::format("({}){}({})", x, sign, y);
      case 4:
        return fmt::format("({} {} {})", x, comparison, y);
      case 5:
        return fmt::format("(({}) < ({}) <= ({}))", x, y, z);
      case 6:
        return fmt::format("({} and {})", x, y);
      case 7:
        return fmt::format("({} or not ({}))", x, y);
      case 8:
        return fmt::format("({} if {} else {})", x, y, z);
      case 9:
        return fmt::format("-({})", x);
      case 10:
        return fmt::format("{}({}, {})", function, x, y);
      case 11:
        return fmt::format("abs({})", x);
      case 12:
        return fmt::format("(({}) {} [{}, {}])", x, in, y, z);
      default:
        return in == "in" ? fmt::format("CLUSTER[{}]", x) : fmt::format("({}, {})", x, y);
    }
  }

 private:
  static constexpr std::string_view kArithmetic[] = {"+", "-", "*", "/", "//", "%", "**"};
  static constexpr std::string_view kComparisons[] = {"<", "<=", ">", ">=", "==", "!="};
  static constexpr std::string_view kTwo[] = {"min", "max", "ceil_div"};
  static constexpr std::string_view kAtoms[] = {"BM",         "BN",
                                                "ZERO",       "SMALLEST",
                                                "LARGEST",    "HALF",
                                                "TINY",       "RASTER",
                                                "NOTHING",    "CLUSTER",
                                                "FLAG",       "device.cores",
                                                "True",       "False",
                                                "'row'",      "\"\"",
                                                "1e308",      "0.1",
                                                "1e-5",       "2.",
                                                "0x7fffffff", "4611686018427387904"};

  std::string atom() { return dice_->once_in(2) ? std::to_string(dice_->below(20)) : std::string(dice_->any(kAtoms)); }

  Dice* dice_;
};

std::string written(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("i {}", *integer);
  if (const auto* number = std::get_if<double>(&value))
    return *number == *number ? fmt::format("f {:016x}", std::bit_cast<std::uint64_t>(*number)) : "f nan";
  if (const auto* truth = std::get_if<Bool>(&value)) return truth->value ? "b 1" : "b 0";
  if (const auto* pair = std::get_if<Pair>(&value)) return fmt::format("p {} {}", pair->first, pair->second);
  std::string hex = "s ";
  for (const char c : std::get<std::string>(value)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string evaluated(const std::string& text) {
  const Expression expression = Expression::parse(text, scope().names);
  EvalFailure failure;
  const Value value = expression.evaluate(scope().slots, failure);
  if (failure) check_message(expression.explain(failure, scope().slots));
  EvalFailure others;
  expression.holds(scope().slots, others);
  expression.integer(scope().slots, others);
  expression.number(scope().slots, others);
  return failure ? "fails" : written(value);
}

const Mutator& mutator() {
  static const Mutator kMutator({"BM * BN <= 256*128 and BM % 16 == 0", "ceil_div(BM, 4) + max(1, BN, HALF) ** 2",
                                 "RASTER in ['row', 'col'] or not FLAG", "CLUSTER[0] * CLUSTER[-1] if FLAG else -1",
                                 "1 < BM < LARGEST // 2 != 3", "(BM, 1) == CLUSTER or 'ow' in RASTER",
                                 "device.cores * $BM - .5e-3"});
  return kMutator;
}

}  // namespace

Evaluated make_expression(Dice& dice) {
  const std::string text = Writer(dice).expression(1 + static_cast<int>(dice.below(4)));
  try {
    return {text, evaluated(text)};
  } catch (const ExpressionError& error) {
    throw Finding(fmt::format("a valid expression is refused: {}: {}", text, error.what()));
  }
}

bool read_mutated_expression(Dice& dice) {
  try {
    evaluated(mutator().make(dice));
    return true;
  } catch (const ExpressionError& error) {
    check_message(error.what());
    return false;
  }
}

bool has_python() { return std::system("python3 -c 'pass' >/dev/null 2>&1") == 0; }

std::string difference(const std::vector<Evaluated>& expressions, const std::string& folder) {
  const std::string in = folder + "/expressions.txt", out = folder + "/evaluated.txt";
  std::ofstream file(in);
  for (const Evaluated& each : expressions) file << each.text << '\n';
  file.close();
  if (std::system(fmt::format("python3 '{}' <'{}' >'{}'", TUNE_ORACLE, in, out).c_str()) != 0)
    return "python3 fails on " + in;
  std::ifstream results(out);
  std::string theirs;
  for (const Evaluated& each : expressions) {
    std::getline(results, theirs);
    if (theirs != each.result) return fmt::format("{}\n  tune:   {}\n  Python: {}", each.text, each.result, theirs);
  }
  return {};
}

}  // namespace tune::fuzz

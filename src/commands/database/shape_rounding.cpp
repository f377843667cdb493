#include "commands/database/shape_rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/expression/expression.h"
#include "model/values/error.h"

namespace tune::commands {
namespace {

using Change = std::function<void(const database::Sizes& given, database::Sizes& key)>;

void round_up(const database::Sizes& given, database::Sizes& key) {
  for (std::size_t i = 0; i < given.size(); ++i)
    key[i].second = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(given[i].second)));
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ExitCode::bad_input, fmt::format("--key {}: {}", text, why));
}

Change parse_change(const std::string& text, const database::Sizes& names) {
  if (text == "pow2") return round_up;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse(text, "it must be pow2 or NAME=EXPRESSION, such as m=ceil_div(m,64)*64");
  const auto place = std::ranges::find(names, text.substr(0, equals), &database::Sizes::value_type::first);
  if (place == names.end())
    refuse(text,
           fmt::format("there is no size '{}'; the sizes are {}", text.substr(0, equals), database::to_text(names)));
  Names known;
  for (const auto& [name, size] : names) known.declare(name);
  try {
    const Expression expression = Expression::parse(text.substr(equals + 1), known);
    return [text, expression, index = place - names.begin()](const database::Sizes& given, database::Sizes& key) {
      std::vector<Value> values;
      for (const auto& [name, size] : given) values.emplace_back(size);
      EvalFailure failure;
      key[static_cast<std::size_t>(index)].second = expression.integer(values, failure);
      if (failure) refuse(text, expression.explain(failure, values));
    };
  } catch (const ExpressionError& error) {
    refuse(text, error.what());
  }
}

}  // namespace

std::function<database::Sizes(const database::Sizes&)> size_key(const std::vector<std::string>& texts,
                                                                const database::Sizes& names) {
  std::vector<Change> changes;
  for (const std::string& text : texts) changes.push_back(parse_change(text, names));
  if (changes.empty()) return {};
  return [changes = std::move(changes)](const database::Sizes& given) {
    database::Sizes key = given;
    for (const Change& change : changes) change(given, key);
    return key;
  };
}

}  // namespace tune::commands

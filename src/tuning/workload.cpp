#include "tuning/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/expression/cell.h"
#include "model/values/error.h"

namespace tune::tuning {
namespace {

constexpr std::size_t kNearest = 3;

bool is_size_of_gemm(const std::string& name) { return name == "M" || name == "N" || name == "K"; }

/// What an entry that is no size says of a gemm: the plan's own value for it; empty: the plan has no such entry.
std::string value_of_plan(const Gemm& gemm, const std::string& name) {
  const auto layout = [](Layout value) { return value == Layout::row ? "T" : "N"; };
  if (name == "rowMajorA") return layout(gemm.layout_a);
  if (name == "rowMajorB") return layout(gemm.layout_b);
  if (name == "a") return std::string(to_text(gemm.a));
  if (name == "b") return std::string(to_text(gemm.b));
  if (name == "scale_a" || name == "scale_b") return std::string(scale_text(gemm, name));
  return name == "c" ? std::string(to_text(gemm.c)) : "";
}

/// The shape without what the plan says itself; nullopt if they say something different. A program does not say what
/// its matrices are like, and knows neither batches nor groups.
std::optional<config::Shape> fitted(const config::Shape& shape, const Gemm* gemm) {
  config::Shape fitting{shape.place, {}, {}, shape.calls};
  for (const Setting& setting : shape.settings) {
    const bool of_several = setting.name == "batch" || setting.name == "groups";
    if (of_several && gemm == nullptr) return std::nullopt;
    if (of_several || is_size_of_gemm(setting.name)) {
      fitting.settings.push_back(setting);
      fitting.places.push_back(shape.place);
    } else if (gemm != nullptr && value_of_plan(*gemm, setting.name) != to_text(setting.value)) {
      return std::nullopt;
    }
  }
  return fitting;
}

/// `bf16 bf16 f32, rowMajorA=T rowMajorB=N`
std::string kind_text(const config::Shape& shape) {
  std::string text;
  for (const Setting& setting : shape.settings)
    if (!is_size_of_gemm(setting.name))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.name, to_text(setting.value));
  return text;
}

std::string kind_of_gemm(const Gemm* gemm) {
  if (gemm == nullptr) return "one matrix product at a time";
  config::Shape shape;
  for (const char* name : {"rowMajorA", "rowMajorB", "a", "b", "c"})
    shape.settings.push_back({name, value_of_plan(*gemm, name)});
  return kind_text(shape);
}

struct LeftOut {
  std::int64_t shapes = 0;
  double calls = 0;
  std::map<std::string, double> kinds;  ///< with their calls

  std::string most_frequent() const {
    return std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second; })->first;
  }
};

}  // namespace

std::vector<config::Shape> shapes_for(const Plan& plan, config::ShapeList list, const std::filesystem::path& file,
                                      std::vector<std::string>& warnings) {
  std::ranges::copy(list.warnings, std::back_inserter(warnings));
  if (!list.as_called) return std::move(list.shapes);
  const Gemm* gemm = std::get_if<Gemm>(&plan.problem);
  std::vector<config::Shape> shapes;
  LeftOut left_out;
  double calls = 0;
  for (const config::Shape& shape : list.shapes) {
    calls += shape.calls;
    const auto fitting = fitted(shape, gemm);
    if (!fitting) {
      ++left_out.shapes;
      left_out.calls += shape.calls;
      left_out.kinds[kind_text(shape)] += shape.calls;
      continue;
    }
    const auto known = std::ranges::find(shapes, to_text(*fitting), [](const auto& s) { return to_text(s); });
    if (known == shapes.end())
      shapes.push_back(*fitting);
    else
      known->calls += fitting->calls;
  }
  if (left_out.shapes == 0) return shapes;
  const std::string why = fmt::format(
      "{} of {} shapes, with {:.3g} % of the calls, differ from {} ({}) in types or layouts, most of them by {}",
      left_out.shapes, list.shapes.size(), 100 * left_out.calls / calls, plan.yaml.filename().string(),
      kind_of_gemm(gemm), left_out.most_frequent());
  if (shapes.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("{0}: {1}; change the problem in the tuning file, or write a list whose entries are tuned "
                            "as they are written:\n\ttune shapes {0} -o shapes.yaml",
                            file.string(), why));
  warnings.push_back(fmt::format("{}: {}; they are left out", file.string(), why));
  return shapes;
}

LogSizes log_sizes(const config::Shape& shape) {
  LogSizes sizes;
  for (const Setting& setting : shape.settings) {
    const auto* number = std::get_if<std::int64_t>(&setting.value);
    if (number != nullptr && *number > 0) sizes.emplace_back(setting.name, std::log(static_cast<double>(*number)));
  }
  return sizes;
}

double distance(const LogSizes& x, const LogSizes& y) {
  std::map<std::string, double> differences;
  for (const auto& [name, size] : x) differences[name] += size;
  for (const auto& [name, size] : y) differences[name] -= size;
  double sum = 0;
  for (const auto& [name, difference] : differences) sum += difference * difference;
  return std::sqrt(sum);
}

std::vector<Spec> nearest_winners(const LogSizes& sizes, std::span<const TunedShape> tuned) {
  std::vector<const TunedShape*> near;
  for (const TunedShape& shape : tuned) near.push_back(&shape);
  std::ranges::stable_sort(near, {}, [&](const TunedShape* shape) { return distance(shape->sizes, sizes); });
  std::vector<Spec> winners;
  for (const TunedShape* shape : near) {
    const auto known = [&](const Spec& spec) { return holds(spec, shape->winner.params); };
    if (winners.size() < kNearest && std::ranges::none_of(winners, known)) winners.push_back(shape->winner);
  }
  return winners;
}

Spec without_shape(Spec spec, const config::Shape& shape) {
  std::erase_if(spec.params, [&](const Setting& setting) {
    return std::ranges::find(shape.settings, setting.name, &Setting::name) != shape.settings.end();
  });
  return spec;
}

std::vector<Spec> specs_among(const Grid& grid, std::span<const Spec> wanted, const config::Shape& shape) {
  const std::vector<std::string> names = parameter_names(grid.plan->space);
  std::vector<Spec> specs;
  for (const Spec& spec : wanted) {
    Spec whole{-1, spec.params};
    std::ranges::copy(shape.settings, std::back_inserter(whole.params));
    std::erase_if(whole.params,
                  [&](const Setting& setting) { return std::ranges::find(names, setting.name) == names.end(); });
    const auto point = grid.plan->space.point(whole);
    if (point && grid.specs.contains(*point)) specs.push_back(grid.plan->space.spec(*point));
  }
  return specs;
}

}  // namespace tune::tuning

// An application of a real Kokkos. `variables` declares variables of its own, whose cost is computed, so that the best
// values are known; `kernels` lets Kokkos tune its tiles and team sizes, `teams` only these.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

namespace Tuning = Kokkos::Tools::Experimental;

Tuning::VariableInfo info_of(Tuning::ValueType type, Tuning::StatisticalCategory category, Tuning::SetOrRange values,
                             bool is_range = false) {
  Tuning::VariableInfo info{};
  info.type = type;
  info.category = category;
  info.valueQuantity =
      is_range ? Tuning::CandidateValueType::kokkos_value_range : Tuning::CandidateValueType::kokkos_value_set;
  info.candidates = values;
  return info;
}

std::size_t declare_set(const char* name, std::vector<int64_t> values, Tuning::StatisticalCategory category) {
  return Tuning::declare_output_type(name, info_of(Tuning::ValueType::kokkos_value_int64, category,
                                                   Tuning::make_candidate_set(values.size(), values.data())));
}

double steps(double from, double to) { return std::abs(std::log2(from) - std::log2(to)); }

/// A context whose cost is the goal.
class Context {
 public:
  explicit Context(std::size_t cost) : id_(Tuning::get_new_context_id()), cost_(cost) {
    Tuning::begin_context(id_);
    Tuning::declare_optimization_goal(id_, {cost_, Kokkos_Tools_Minimize});
  }
  void request(std::vector<Tuning::VariableValue>& values) {
    Tuning::request_output_values(id_, values.size(), values.data());
  }
  void set(Tuning::VariableValue value) { Tuning::set_input_values(id_, 1, &value); }
  void end(double cost) {
    set(Tuning::make_variable_value(cost_, cost));
    Tuning::end_context(id_);
  }

 private:
  std::size_t id_, cost_;
};

void variables() {
  using Category = Tuning::StatisticalCategory;
  std::string kinds[] = {"list", "tree", "hash"};
  const std::size_t kind = Tuning::declare_output_type(
      "kind", info_of(Tuning::ValueType::kokkos_value_string, Category::kokkos_value_categorical,
                      Tuning::make_candidate_set(3, kinds)));
  const std::size_t level = declare_set("level", {1, 2, 4, 8, 16}, Category::kokkos_value_ordinal);
  const std::size_t share = Tuning::declare_output_type(
      "share", info_of(Tuning::ValueType::kokkos_value_double, Category::kokkos_value_interval,
                       Tuning::make_candidate_range(0.0, 1.0, 0.1, false, false), true));
  const std::size_t block = declare_set("block", {8, 16, 32, 64, 128, 256}, Category::kokkos_value_ratio);
  const std::size_t outer = declare_set("outer", {1, 2, 3, 4}, Category::kokkos_value_ordinal);
  const std::size_t rows = declare_set("rows", {1, 2, 4, 8}, Category::kokkos_value_ratio);
  const std::size_t columns = declare_set("columns", {1, 8, 16, 32, 64}, Category::kokkos_value_ratio);
  Tuning::VariableInfo unbounded{};
  unbounded.type = Tuning::ValueType::kokkos_value_double;
  unbounded.category = Category::kokkos_value_ratio;
  unbounded.valueQuantity = Tuning::CandidateValueType::kokkos_value_unbounded;
  const std::size_t cost = Tuning::declare_input_type("cost", unbounded);
  unbounded.type = Tuning::ValueType::kokkos_value_int64;
  const std::size_t size = Tuning::declare_input_type("size", unbounded);

  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    std::vector<Tuning::VariableValue> flat = {
        Tuning::make_variable_value(kind, std::string("list")), Tuning::make_variable_value(level, int64_t{1}),
        Tuning::make_variable_value(share, 0.0), Tuning::make_variable_value(block, int64_t{8})};
    Context first(cost);
    first.request(flat);
    first.end((std::strcmp(flat[0].value.string_value, "tree") == 0 ? 1 : 1.5) +
              0.2 * steps(flat[1].value.int_value, 8) + 2 * std::abs(flat[2].value.double_value - 0.3) +
              0.3 * steps(flat[3].value.int_value, 64));

    std::vector<Tuning::VariableValue> around = {Tuning::make_variable_value(outer, int64_t{1})};
    std::vector<Tuning::VariableValue> tile = {Tuning::make_variable_value(rows, int64_t{1}),
                                               Tuning::make_variable_value(columns, int64_t{1})};
    Context second(cost);
    second.request(around);
    Context within(cost);
    within.set(Tuning::make_variable_value(size, int64_t{1000}));
    within.request(tile);
    within.end(1 + steps(tile[0].value.int_value, 4) + steps(tile[1].value.int_value, 32));
    second.end(1 + std::abs(around[0].value.int_value - 3.0));
    if (i == 0 || i + 1 == count)
      std::printf("%s: %s %ld %.1f %ld, tile %ld %ld within %ld\n", i == 0 ? "first" : "last",
                  flat[0].value.string_value, flat[1].value.int_value, flat[2].value.double_value,
                  flat[3].value.int_value, tile[0].value.int_value, tile[1].value.int_value, around[0].value.int_value);
  }
}

void kernels(bool tiles) {
  constexpr int kSize = 128;
  Kokkos::View<double**, Kokkos::LayoutRight> a("a", kSize, kSize), b("b", kSize, kSize);
  Kokkos::View<double*> sums("sums", kSize);
  using Team = Kokkos::TeamPolicy<>;
  for (int i = 0; i < 1500; ++i) {
    if (tiles)
      Kokkos::parallel_for(
          "transpose", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {kSize, kSize}),
          KOKKOS_LAMBDA(int row, int column) { b(column, row) = a(row, column); });
    Kokkos::parallel_for(
        "row_sums", Team(kSize, Kokkos::AUTO), KOKKOS_LAMBDA(const Team::member_type& team) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, kSize),
              [&](int column, double& part) { part += b(team.league_rank(), column); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { sums(team.league_rank()) = sum; });
        });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  if (argc > 1 && std::string(argv[1]) == "variables") variables();
  if (argc > 1 && std::string(argv[1]) == "kernels") kernels(true);
  if (argc > 1 && std::string(argv[1]) == "teams") kernels(false);
  Kokkos::finalize();
  return 0;
}

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/reader/problem_reader.h"
#include "config/yaml/fields.h"
#include "model/routing.h"

namespace tune::config {
namespace {

/// Kernels take sizes as `int`; larger ones could not be told to them.
constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxElements = 9e15;
constexpr std::int64_t kMostGroups = 65536;

/// One matrix of the product: its shape and what the file says of it.
struct Matrix {
  std::string_view name;
  std::int64_t rows, cols;
  Layout layout;
  std::int64_t& ld;
  std::int64_t& stride;
  std::int64_t count;  ///< of such matrices
};

/// The inputs' own type, or what their products are usually kept as.
Type default_result(Type input) {
  switch (input) {
    case Type::s8:
      return Type::s32;
    case Type::tf32:
      return Type::f32;
    case Type::e4m3:
    case Type::e5m2:
      return Type::bf16;
    default:
      return input;
  }
}

/// Scales from one run of neighbours to the next; 0: there is one run.
std::int64_t ld_of(Scale scale, const ScaleGrid& grid) {
  return scale == Scale::of_128 ? grid.depth_stride : scale == Scale::of_128x128 ? grid.line_stride : 0;
}

class GemmReader {
 public:
  GemmReader(const Node& node, Diagnostics& diagnostics)
      : fields_(node, "gemm", keys(), diagnostics), diagnostics_(&diagnostics) {}

  Gemm read() {
    read_sizes();
    read_types();
    read_layouts();
    if (const Node* node = fields_.find("alpha")) gemm_.alpha = read_number(*node, "alpha", *diagnostics_).value_or(1);
    if (const Node* node = fields_.find("beta")) gemm_.beta = read_number(*node, "beta", *diagnostics_).value_or(0);
    check_factor("alpha", gemm_.alpha);
    check_factor("beta", gemm_.beta);
    if (const Node* node = fields_.find("bias"))
      gemm_.bias = read_enumerator<Bias>(*node, "bias", kBiases, *diagnostics_).value_or(Bias::none);
    read_fast_accum();
    if (const Node* node = fields_.find("init"))
      gemm_.init = read_init(*node, "init", *diagnostics_).value_or(gemm_.init);
    read_epilogue();
    read_scale("scale_a", kScalesOfA, gemm_.scale_a);
    read_scale("scale_b", kScalesOfB, gemm_.scale_b);
    require_plain_groups();
    read_room_of_groups();
    read_matrix({"a", gemm_.rows(), gemm_.k, gemm_.layout_a, gemm_.lda, gemm_.stride_a, gemm_.batch});
    read_matrix({"b", gemm_.k, gemm_.columns(), gemm_.layout_b, gemm_.ldb, gemm_.stride_b, gemm_.matrices_of_b()});
    read_matrix({"c", gemm_.rows(), gemm_.n, gemm_.layout_c, gemm_.ldc, gemm_.stride_c, gemm_.batch});
    return gemm_;
  }

 private:
  static std::vector<std::string_view> keys() {
    std::vector<std::string_view> keys(kGemmKeys.begin(), kGemmKeys.end());
    keys.push_back("layout");
    return keys;
  }

  void read_fast_accum() {
    const Node* node = fields_.find("fast_accum");
    if (!node) return;
    gemm_.fast_accum = read_bool(*node, "fast_accum", *diagnostics_).value_or(false);
    if (gemm_.fast_accum && size_of(gemm_.a) + size_of(gemm_.b) > 2)
      diagnostics_->add(node->place, "fast_accum is for sums of fp8 products; a and b must be e4m3 or e5m2");
  }

  void read_epilogue() {
    if (const Node* node = fields_.find("residual"))
      gemm_.residual = read_bool(*node, "residual", *diagnostics_).value_or(false);
    const Node* node = fields_.find("epilogue");
    if (!node) return;
    gemm_.epilogue = read_enumerator<Epilogue>(*node, "epilogue", kEpilogues, *diagnostics_).value_or(Epilogue::none);
    if (gemm_.epilogue == Epilogue::none) return;
    if (gemm_.acc == Type::s32)
      diagnostics_->add(
          node->place, fmt::format("epilogue: {} is for floating-point sums, and acc is s32", to_text(gemm_.epilogue)));
    if (gemm_.init != Init::uniform && gemm_.init != Init::normal && gemm_.init != Init::hpl)
      diagnostics_->add(node->place, fmt::format("with epilogue: {}, init is one of uniform, normal, hpl: other inputs "
                                                 "would not tell it from another epilogue",
                                                 to_text(gemm_.epilogue)));
    if (gemm_.epilogue == Epilogue::swiglu && gemm_.beta != 0)
      diagnostics_->add(fields_.find("beta")->place,
                        "beta is for a C of the product's size, and with epilogue: swiglu C has half its columns");
  }

  void read_scale(std::string_view key, std::span<const std::string_view> names, Scale& scale) {
    const Node* node = fields_.find(key);
    if (!node) return;
    const auto choice = read_enumerator<Scale>(*node, key, names, *diagnostics_);
    scale = choice.value_or(Scale::tensor);  // a wrong one is one, too, which args may name
    if (!choice || scale == Scale::none) return;
    const auto refuse = [&](std::string_view why) {
      diagnostics_->add(node->place, fmt::format("{}: {} {}", key, names[static_cast<std::size_t>(scale)], why));
    };
    if (size_of(gemm_.a) + size_of(gemm_.b) > 2 || gemm_.acc == Type::s32)
      refuse("is for fp8; a and b must be e4m3 or e5m2");
    else if (gemm_.acc != Type::f32)
      refuse("is f32, and so must be acc, in which the scaled sums are added");
    if (gemm_.batch != 1) refuse("is for one product; batch must be 1");
    if (gemm_.fast_accum && (scale == Scale::of_128 || scale == Scale::of_128x128))
      refuse("ends a sum after 128 products, which fast_accum is not for; remove fast_accum");
  }

  /// Alpha and beta have the accumulator's type.
  void check_factor(std::string_view name, double value) {
    constexpr double kMostF16 = 65504;
    const double most = gemm_.acc == Type::f16   ? kMostF16
                        : gemm_.acc == Type::f64 ? std::numeric_limits<double>::max()
                                                 : std::numeric_limits<float>::max();
    if (std::abs(value) <= most) return;
    diagnostics_->add(
        fields_.find(name)->place,
        fmt::format("{} is {:g}, which {}, the accumulator's type, cannot hold", name, value, to_text(gemm_.acc)));
  }

  void read_size(const Node* node, std::string_view name, std::int64_t& size) {
    size = 1;
    if (node == nullptr) return;
    const auto read = read_integer(*node, name, *diagnostics_);
    if (!read) return;
    if (*read >= 1 && *read <= kMaxSize) {
      size = *read;
    } else {
      diagnostics_->add(node->place, fmt::format("{} is {}; it must be between 1 and {}", name, *read, kMaxSize));
    }
  }

  void read_sizes() {
    const Node* groups = fields_.find("groups");
    const bool listed = groups != nullptr && groups->is_list();
    read_size(listed ? fields_.find("m") : fields_.require("m"), "m", gemm_.m);
    read_size(fields_.require("n"), "n", gemm_.n);
    read_size(fields_.require("k"), "k", gemm_.k);
    read_size(fields_.find("batch"), "batch", gemm_.batch);
    if (listed)
      read_listed_groups(*groups);
    else
      read_drawn_groups(groups);
  }

  /// `groups: [512, 0, 37]`
  void read_listed_groups(const Node& node) {
    std::vector<std::int64_t> rows;
    std::int64_t sum = 0;
    for (const Node& item : node.items) {
      const std::int64_t read = read_integer(item, "a group's rows", *diagnostics_).value_or(0);
      if (read < 0 || read > kMaxSize)
        diagnostics_->add(item.place, fmt::format("a group has {} rows; write a number from 0 to {}", read, kMaxSize));
      rows.push_back(std::clamp<std::int64_t>(read, 0, kMaxSize));
      sum += rows.back();
    }
    const Node* m = fields_.find("m");
    if (sum < 1 || sum > kMaxSize || node.items.size() > kMostGroups)
      diagnostics_->add(node.place, fmt::format("groups lists {} groups of {} rows together; there must be 1 to {} "
                                                "groups, and 1 to {} rows",
                                                node.items.size(), sum, kMostGroups, kMaxSize));
    else if (m != nullptr && gemm_.m != sum)
      diagnostics_->add(m->place,
                        fmt::format("m is {}, and the rows that groups lists are {} together; leave m out, or "
                                    "give groups a number, among which m rows are drawn",
                                    gemm_.m, sum));
    if (const Node* routing = fields_.find("routing"))
      diagnostics_->add(routing->place, "routing draws the rows of groups, and groups lists them; remove one of both");
    if (sum < 1 || sum > kMaxSize) rows = {1};
    set_groups(rows, routing_of_list(rows));
  }

  /// `groups: 64, routing: zipf 1.0`
  void read_drawn_groups(const Node* node) {
    const Node* rule = fields_.find("routing");
    const auto routing = rule == nullptr ? Routing() : parse_routing(rule->is_scalar() ? rule->text : "");
    if (!routing)
      diagnostics_->add(rule->place,
                        fmt::format("routing must be even, uniform or zipf with an exponent above 0 and at "
                                    "most 10, such as zipf 1.2 or uniform seed 7, not {}",
                                    describe(*rule)));
    if (node == nullptr) {
      if (rule != nullptr)
        diagnostics_->add(rule->place, "routing draws the rows of groups, and there are none; add groups: NUMBER");
      return;
    }
    const auto count = read_integer(*node, "groups", *diagnostics_);
    if (count && (*count < 1 || *count > kMostGroups))
      diagnostics_->add(node->place, fmt::format("groups is {}; it must be between 1 and {}, or a list of their rows",
                                                 *count, kMostGroups));
    const std::int64_t groups = std::clamp<std::int64_t>(count.value_or(1), 1, kMostGroups);
    set_groups(draw_rows(routing.value_or(Routing()), gemm_.m, groups), to_text(routing.value_or(Routing())));
  }

  void set_groups(const std::vector<std::int64_t>& rows, std::string routing) {
    gemm_.group_offsets = {0};
    for (const std::int64_t each : rows)
      gemm_.group_offsets.push_back(gemm_.group_offsets.back() + static_cast<std::int32_t>(each));
    gemm_.m = gemm_.group_offsets.back();
    gemm_.routing = std::move(routing);
  }

  /// `max_rows: 64, padding: any`
  void read_room_of_groups() {
    const Node *node = fields_.find("max_rows"), *padding = fields_.find("padding");
    if (padding != nullptr) {
      gemm_.any_padding = read_choice(*padding, "padding", Choices{"kept", "any"}, *diagnostics_).value_or(0) == 1;
      if (node == nullptr && gemm_.any_padding)
        diagnostics_->add(padding->place, "padding is what lies behind the rows of groups with max_rows; add max_rows");
    }
    const auto room = node != nullptr ? read_integer(*node, "max_rows", *diagnostics_) : std::nullopt;
    if (!room) return;
    std::int64_t most = 1;
    for (std::size_t i = 1; i < gemm_.group_offsets.size(); ++i)
      most = std::max<std::int64_t>(most, gemm_.group_offsets[i] - gemm_.group_offsets[i - 1]);
    if (gemm_.groups() == 0)
      diagnostics_->add(node->place,
                        "max_rows is how many rows each group has room for, and there are no groups; add "
                        "groups: NUMBER");
    else if (*room < most || *room > kMaxSize / gemm_.groups())
      diagnostics_->add(node->place,
                        fmt::format("max_rows is {}; it must be between {}, the rows of the largest group, "
                                    "and {}, with which {} groups have 2^31 rows",
                                    *room, most, kMaxSize / gemm_.groups(), gemm_.groups()));
    else
      gemm_.max_rows = *room;
  }

  /// Whoever multiplies groups has their rows one after the other.
  void require_plain_groups() {
    if (gemm_.groups() == 0) return;
    const auto refuse = [&](bool is_given, const char* key, const char* why) {
      if (is_given) diagnostics_->add(fields_.find(key)->place, why);
    };
    refuse(gemm_.batch != 1, "batch", "groups have one A and one C; remove batch or groups");
    refuse(gemm_.bias != Bias::none, "bias", "groups have no bias yet; remove bias or groups");
    refuse(gemm_.epilogue != Epilogue::none, "epilogue", "groups have no epilogue yet; remove epilogue or groups");
    refuse(gemm_.residual, "residual", "groups have no residual yet; remove residual or groups");
    refuse(gemm_.scale_a == Scale::of_128x128, "scale_a",
           "a group may begin within 128 rows of A, which then have no scale in common; write 1x128");
    refuse(gemm_.layout_a == Layout::col || gemm_.layout_c == Layout::col, "layout",
           "groups are runs of rows of A and C, whose layout must be row");
  }

  Type type(std::string_view key, Type otherwise) {
    const Node* node = fields_.find(key);
    return node != nullptr ? read_type(*node, fmt::format("type {}", key), *diagnostics_).value_or(otherwise)
                           : otherwise;
  }

  void read_types() {
    gemm_.a = type("a", Type::f32);
    gemm_.b = type("b", gemm_.a);
    gemm_.c = type("c", default_result(gemm_.a));
    const bool integers = gemm_.a == Type::s8 || gemm_.a == Type::s32;
    gemm_.acc = type("acc", integers ? Type::s32 : gemm_.a == Type::f64 ? Type::f64 : Type::f32);
  }

  void read_layouts() {
    const Node* node = fields_.find("layout");
    if (node == nullptr) return;
    Fields layout(*node, "layout", {"a", "b", "c"}, *diagnostics_);
    const std::array<std::pair<const char*, Layout*>, 3> matrices = {
        {{"a", &gemm_.layout_a}, {"b", &gemm_.layout_b}, {"c", &gemm_.layout_c}}};
    for (const auto& [name, target] : matrices) {
      const Node* entry = layout.find(name);
      if (entry == nullptr) continue;
      const auto layout_of =
          read_enumerator<Layout>(*entry, fmt::format("layout of {}", name), kLayouts, *diagnostics_);
      *target = layout_of.value_or(*target);
    }
  }

  /// 0 and absence mean tight. A smaller leading dimension or stride would make rows or matrices overlap.
  void read_distance(const std::string& key, std::int64_t tight, std::int64_t& distance) {
    distance = tight;
    const Node* node = fields_.find(key);
    const auto read = node != nullptr ? read_integer(*node, key, *diagnostics_) : std::nullopt;
    if (!read || *read == 0) return;
    if (*read < tight) {
      diagnostics_->add(node->place,
                        fmt::format("{} is {}, which is less than {}, its smallest possible value", key, *read, tight));
    } else {
      distance = *read;
    }
  }

  void read_matrix(Matrix matrix) {
    const std::int64_t line = matrix.layout == Layout::row ? matrix.cols : matrix.rows;
    const std::int64_t lines = matrix.layout == Layout::row ? matrix.rows : matrix.cols;
    const std::string ld = fmt::format("ld{}", matrix.name), stride = fmt::format("stride_{}", matrix.name);
    read_distance(ld, line, matrix.ld);
    const bool fits = static_cast<double>(matrix.ld) * static_cast<double>(lines) < kMaxElements;
    if (fits) read_distance(stride, extent(matrix.rows, matrix.cols, matrix.layout, matrix.ld), matrix.stride);
    if (!fits || static_cast<double>(matrix.stride) * static_cast<double>(matrix.count) >= kMaxElements) {
      diagnostics_->add(fields_.place(), fmt::format("matrix {} is too large to be addressed", matrix.name));
    }
  }

  Fields fields_;
  Diagnostics* diagnostics_;
  Gemm gemm_;
};

}  // namespace

Gemm read_gemm(const Node& node, Diagnostics& diagnostics) { return GemmReader(node, diagnostics).read(); }

std::map<std::string, Value> constants_of(const Gemm& gemm) {
  return {{"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"batch", gemm.batch},
          {"groups", gemm.groups()},
          {"max_rows", gemm.max_rows},
          {"lda", gemm.lda},
          {"ldb", gemm.ldb},
          {"ldc", gemm.ldc},
          {"stride_a", gemm.stride_a},
          {"stride_b", gemm.stride_b},
          {"stride_c", gemm.stride_c},
          {"alpha", gemm.alpha},
          {"beta", gemm.beta},
          {"type_a", std::string(to_text(gemm.a))},
          {"type_b", std::string(to_text(gemm.b))},
          {"type_c", std::string(to_text(gemm.c))},
          {"type_acc", std::string(to_text(gemm.acc))},
          {"fast_accum", Bool{gemm.fast_accum, false}},
          {"epilogue", std::string(to_text(gemm.epilogue))},
          {"scale_a", std::string(scale_text(gemm, "scale_a"))},
          {"scale_b", std::string(scale_text(gemm, "scale_b"))},
          {"ld_scale_a", ld_of(gemm.scale_a, gemm.scales_of_a())},
          {"ld_scale_b", ld_of(gemm.scale_b, gemm.scales_of_b())},
          {"layout_a", std::string(to_text(gemm.layout_a))},
          {"layout_b", std::string(to_text(gemm.layout_b))},
          {"layout_c", std::string(to_text(gemm.layout_c))}};
}

namespace {

/// For types as C++, CUDA and numpy call them.
std::string did_you_mean_type(const std::string& name) {
  static const std::map<std::string, const char*> names = {
      {"float", "f32"}, {"fp32", "f32"}, {"float32", "f32"}, {"double", "f64"},   {"fp64", "f64"}, {"float64", "f64"},
      {"half", "f16"},  {"fp16", "f16"}, {"float16", "f16"}, {"fp8", "e4m3"},     {"int", "s32"},  {"int32", "s32"},
      {"i32", "s32"},   {"i8", "s8"},    {"int8", "s8"},     {"bfloat16", "bf16"}};
  const auto found = names.find(name);
  return found == names.end() ? "" : fmt::format(", did you mean '{}'?", found->second);
}

}  // namespace

std::optional<Type> read_type(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  const std::optional<Type> type = node.is_scalar() ? parse_type(node.text) : std::nullopt;
  if (!type)
    diagnostics.add(node.place, fmt::format("{} must be one of {}, not {}{}", what, fmt::join(kElementTypes, ", "),
                                            describe(node), did_you_mean_type(node.text)));
  return type;
}

std::optional<Init> read_init(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  if (node.is_scalar() && node.text == "random") return Init::uniform;
  if (node.is_scalar() && node.text == "zero") return Init::zeros;
  return read_enumerator<Init>(node, what, kInits, diagnostics);
}

}  // namespace tune::config

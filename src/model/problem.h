#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The problems that kernels solve: GEMM and custom ones, with their element types, sizes and buffers.
namespace tune {

// The names of enumerators stand in arrays, in the same order. Tuning files, records and hashes have them.

/// Element types by their short names in tuning files. f16 has 5 exponent bits, bf16 8; e4m3 and e5m2 are fp8.
enum class Type { f64, f32, tf32, f16, bf16, e4m3, e5m2, s32, s8 };
inline constexpr std::array<std::string_view, 9> kElementTypes = {"f64",  "f32",  "tf32", "f16", "bf16",
                                                                  "e4m3", "e5m2", "s32",  "s8"};
constexpr std::string_view to_text(Type type) { return kElementTypes[static_cast<std::size_t>(type)]; }
std::optional<Type> parse_type(std::string_view name);
/// Bytes of one element in memory.
std::int64_t size_of(Type type);
/// Unit roundoff: half the distance from 1 to the next number; 0 for integers.
double unit_roundoff(Type type);
/// How often inputs of this type may be doubled or halved and keep some of their digits; 0 for integers.
int most_doublings(Type type);

enum class Layout { row, col };
inline constexpr std::array<std::string_view, 2> kLayouts = {"row", "col"};
constexpr std::string_view to_text(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

/// How inputs are filled: a function of (seed, buffer, index) alone; see worker/checking/inputs.h.
enum class Init { uniform, normal, hpl, trig, zeros, iota };
inline constexpr std::array<std::string_view, 6> kInits = {"uniform", "normal", "hpl", "trig", "zeros", "iota"};
constexpr std::string_view to_text(Init init) { return kInits[static_cast<std::size_t>(init)]; }

/// A vector that is added to a product: one row of n elements to every row of C, or one column of m to every column.
enum class Bias { none, row, col };
inline constexpr std::array<std::string_view, 3> kBiases = {"none", "row", "col"};
constexpr std::string_view to_text(Bias bias) { return kBiases[static_cast<std::size_t>(bias)]; }

/// What is computed of each element x of a product before it is rounded to C's type. gelu has two forms: tanh's is that
/// of vendors' libraries, erf's the exact one. With swiglu, B has 2n columns, and an element of C is silu(x) times the
/// element of the product that is n columns further on.
enum class Epilogue { none, relu, gelu_tanh, gelu_erf, silu, swiglu };
inline constexpr std::array<std::string_view, 6> kEpilogues = {"none",     "relu", "gelu_tanh",
                                                               "gelu_erf", "silu", "swiglu"};
constexpr std::string_view to_text(Epilogue epilogue) { return kEpilogues[static_cast<std::size_t>(epilogue)]; }
std::optional<Epilogue> parse_epilogue(std::string_view name);

/// Which elements of A or B share a scale, an f32 by which they are multiplied: all; those of a line, which is a row of
/// A or a column of B; 128 of k in one line; 128 of k in 128 lines.
enum class Scale { none, tensor, line, of_128, of_128x128 };

/// Those of a line are called otherwise for A and for B in tuning files.
inline constexpr std::array<std::string_view, 5> kScales = {"none", "tensor", "line", "1x128", "128x128"},
                                                 kScalesOfA = {"none", "tensor", "row", "1x128", "128x128"},
                                                 kScalesOfB = {"none", "tensor", "col", "1x128", "128x128"};
constexpr std::string_view to_text(Scale scale) { return kScales[static_cast<std::size_t>(scale)]; }

/// How the scales of matrices lie in memory, those of one behind the other's: that of the element p of a line is at
/// line / lines * line_stride + p / depth * depth_stride. The order is cuBLASLt's.
struct ScaleGrid {
  std::int64_t lines = 1, depth = 1;  ///< elements that share one, in both directions
  std::int64_t line_count = 0, depth_count = 0;
  std::int64_t line_stride = 1, depth_stride = 1;
  std::int64_t matrices = 1;
  /// Elements of memory for one matrix, padding behind each run of 128x128 scales included.
  std::int64_t matrix_stride() const { return line_stride > 1 ? line_count * line_stride : line_count * depth_count; }
  std::int64_t extent() const { return matrices * matrix_stride(); }
};
ScaleGrid scale_grid(Scale scale, std::int64_t lines, std::int64_t k, std::int64_t matrices = 1);

/// C[m,n] = epilogue(alpha * A[m,k] * B[k,n] + beta * C + bias) + residual, `batch` times with one bias, which has C's
/// type; the residual is laid out as C, and elements of A and B count times their scales. Leading dimensions and
/// strides from one matrix to the next are in elements; a leading dimension is the distance between rows (Layout::row)
/// or columns (Layout::col).
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Type a = Type::f32, b = Type::f32, c = Type::f32, acc = Type::f32;
  Layout layout_a = Layout::row, layout_b = Layout::row, layout_c = Layout::row;
  std::int64_t lda = 0, ldb = 0, ldc = 0;                 ///< 0 in a file: tight
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< 0 in a file: one matrix after the other
  double alpha = 1, beta = 0;
  Bias bias = Bias::none;
  Epilogue epilogue = Epilogue::none;
  bool residual = false;
  Scale scale_a = Scale::none, scale_b = Scale::none;
  /// Groups of rows of A and C, each of which is multiplied by a matrix of B of its own: the first row of each group,
  /// and m at the end. Empty: there are none, and B is one matrix.
  std::vector<std::int32_t> group_offsets = {};
  std::string routing = {};  ///< where the rows of groups come from: see model/routing.h; otherwise empty
  /// For how many rows each group has room in A and C: group e begins at row e * max_rows, and what lies behind its
  /// rows is padding. 0: groups lie one behind the other.
  std::int64_t max_rows = 0;
  bool any_padding = false;  ///< kernels may write the padding of groups in C
  bool fast_accum = false;   ///< of fp8: sums may keep as few digits as those of tensor cores
  Init init = Init::uniform;

  /// Columns of B, and of the product that the epilogue takes.
  std::int64_t columns() const { return epilogue == Epilogue::swiglu ? 2 * n : n; }
  std::int64_t groups() const {
    return group_offsets.empty() ? 0 : static_cast<std::int64_t>(group_offsets.size()) - 1;
  }
  /// Rows of A and C in memory, of which m are multiplied.
  std::int64_t rows() const { return max_rows > 0 ? groups() * max_rows : m; }
  std::int64_t first_row(std::int64_t group) const {
    return max_rows > 0 ? group * max_rows : group_offsets[static_cast<std::size_t>(group)];
  }
  /// Matrices of B.
  std::int64_t matrices_of_b() const { return group_offsets.empty() ? batch : groups(); }
  /// Those that are read: groups without rows need none.
  std::int64_t used_matrices_of_b() const;
  /// Elements of the bias vector.
  std::int64_t bias_length() const { return bias == Bias::none ? 0 : bias == Bias::row ? columns() : m; }

  ScaleGrid scales_of_a() const { return scale_grid(scale_a, rows(), k); }
  ScaleGrid scales_of_b() const { return scale_grid(scale_b, columns(), k, matrices_of_b()); }

  /// Those of the product alone.
  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(columns()) *
           static_cast<double>(k);
  }
  /// Compulsory traffic: A, B of groups that have rows, their scales, the bias, the residual and C once, C twice if
  /// beta != 0.
  double bytes() const;
};

/// What kernels know from `epilogue` among `build.defines`: epilogue_bias_row or epilogue_bias_col, epilogue_relu and
/// its like, epilogue_residual. Of a plain product nothing.
std::vector<std::string> epilogue_macros(const Gemm& gemm);
/// What they know from `groups` there: groups_contiguous, or groups_masked if each has room for max_rows; without
/// groups nothing.
std::vector<std::string> group_macros(const Gemm& gemm);
/// What they know from `scale_a` or `scale_b` there: scale_a_1x128 and its like; without scales nothing.
std::vector<std::string> scale_macros(const Gemm& gemm, std::string_view name);

/// What a tuning file says of `scale_a` or `scale_b`.
std::string_view scale_text(const Gemm& gemm, std::string_view name);

/// Elements a matrix of rows x cols occupies: from its first to its last element, padding between rows included.
std::int64_t extent(std::int64_t rows, std::int64_t cols, Layout layout, std::int64_t ld);

/// One buffer of a custom problem, `count` elements.
struct Buffer {
  enum class Role { in, out, inout };
  static constexpr std::array<std::string_view, 3> kRoles = {"in", "out", "inout"};
  std::string name;
  Type type = Type::f32;
  std::int64_t count = 0;
  Init init = Init::uniform;
  Role role = Role::in;
  double scale = 1;  ///< of the numbers of `init`: a power of two, of at most most_doublings()
};
constexpr std::string_view to_text(Buffer::Role role) { return Buffer::kRoles[static_cast<std::size_t>(role)]; }

/// A problem that declares its own buffers, and is checked against a reference kernel or a trusted spec.
struct Custom {
  std::vector<Buffer> buffers;
  double flops = 0;
  double bytes = 0;
  double tolerance = 0;                 ///< allowed |out - ref| / max|ref|; 0: by type, see worker/checking/reference.h
  std::vector<std::string> sizes = {};  ///< their names, as the tuning file orders them
};

/// None: program mode, where the program knows its problem.
using Problem = std::variant<std::monostate, Gemm, Custom>;

}  // namespace tune

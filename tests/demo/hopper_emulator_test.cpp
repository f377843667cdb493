// The kernels of demo/hopper on an emulated multiprocessor: they compute the right product, wait for what they read,
// and no block leaves while another one needs it. What only hardware shows, such as memory fences, is not emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "demo/hopper_emulator/machine.h"

namespace tune::hopper_emulator_test {
namespace {

using hopper::Kernel;

struct Shape {
  int m, n, k, ldc;
  std::vector<int> counts = {};  // the rows of groups
  int max_rows = 0;              // for which each has room; 0: they lie one behind the other

  int matrices_of_b() const { return std::max<int>(1, static_cast<int>(counts.size())); }
  std::vector<int> offsets() const {
    std::vector<int> all = {0};
    for (const int count : counts) all.push_back(all.back() + count);
    return all;
  }
  int matrix_of(int row) const {
    if (max_rows > 0) return row / max_rows;
    if (counts.empty()) return 0;
    const std::vector<int> all = offsets();
    return static_cast<int>(std::ranges::upper_bound(all, row) - all.begin()) - 1;
  }
  bool is_of_a_group(int row) const {
    return max_rows == 0 || row % max_rows < counts[static_cast<std::size_t>(matrix_of(row))];
  }
};
struct Launch {
  int cluster_m = 1, cluster_n = 1, parts = 1, blocks = 2, group = 2, stagger = 0;
};

int ceil_div(int x, int y) { return (x + y - 1) / y; }

std::size_t place(int row, int col, int ld) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(col);
}

unsigned short to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Numbers whose sums of products are exact, and are so in bf16 without scales.
std::vector<float> small_numbers(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random() % 3) - 1;
  return numbers;
}

std::vector<unsigned short> in_bf16(const std::vector<float>& numbers) {
  std::vector<unsigned short> elements;
  for (const float x : numbers) elements.push_back(to_bf16(x));
  return elements;
}

/// As a kernel reads small numbers.
std::vector<unsigned char> operand(const Kernel& kernel, const std::vector<float>& numbers) {
  std::vector<unsigned char> bytes;
  for (const float x : numbers) {
    const unsigned bits = kernel.scaled() ? (x < 0 ? 0xb8 : x > 0 ? 0x38 : 0) : to_bf16(x);
    bytes.push_back(static_cast<unsigned char>(bits & 0xff));
    if (!kernel.scaled()) bytes.push_back(static_cast<unsigned char>(bits >> 8));
  }
  return bytes;
}

/// Powers of two, no two neighbours of which are the same; what pads rows of them is NaN. There are whole 16 bytes.
std::vector<float> scales(int rows, int cols, int ld) {
  std::vector<float> all(static_cast<std::size_t>(ceil_div(rows * ld, 4) * 4), NAN);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) all[place(i, j, ld)] = std::ldexp(1.0F, (i * 2 + j) % 5 - 2);
  return all;
}

float to_float(unsigned short bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
  return std::bit_cast<float>(word);
}

/// Of the product, and rows of B.
int columns_of(const Kernel& kernel, const Shape& shape) { return kernel.swiglu ? 2 * shape.n : shape.n; }

/// Scales as they lie in memory: those of blocks of A slice by slice, those of B for one matrix after the other.
std::vector<float> scales_of_a(const Kernel& kernel, const Shape& shape) {
  if (kernel.scale_a == Kernel::Scales::blocks) return scales(ceil_div(shape.k, 128), shape.m, shape.m);
  return scales(1, kernel.scale_a == Kernel::Scales::line ? shape.m : 1, shape.m);
}
std::vector<float> scales_of_b(const Kernel& kernel, const Shape& shape) {
  const int matrices = shape.matrices_of_b(), columns = columns_of(kernel, shape), slices = ceil_div(shape.k, 128);
  if (kernel.scale_b == Kernel::Scales::blocks)
    return scales(matrices * ceil_div(columns, 128), slices, ceil_div(slices, 4) * 4);
  return kernel.scale_b == Kernel::Scales::line ? scales(matrices, columns, columns) : scales(1, matrices, matrices);
}

/// What the product of A's row i and a column j of a matrix of B is multiplied by, at k.
class Scaling {
 public:
  Scaling(const Kernel& kernel, const Shape& shape)
      : kernel_(kernel),
        shape_(shape),
        columns_(columns_of(kernel, shape)),
        a_(scales_of_a(kernel, shape)),
        b_(scales_of_b(kernel, shape)) {}

  float operator()(int i, int matrix, int j, int k) const {
    if (!kernel_.scaled()) return 1;
    return a_[of_a(i, k)] * b_[of_b(matrix, j, k)];
  }

 private:
  std::size_t of_a(int i, int k) const {
    if (kernel_.scale_a == Kernel::Scales::blocks) return place(k / 128, i, shape_.m);
    return kernel_.scale_a == Kernel::Scales::line ? static_cast<std::size_t>(i) : 0;
  }
  std::size_t of_b(int matrix, int j, int k) const {
    if (kernel_.scale_b == Kernel::Scales::blocks)
      return place(matrix * ceil_div(columns_, 128) + j / 128, k / 128, ceil_div(ceil_div(shape_.k, 128), 4) * 4);
    return kernel_.scale_b == Kernel::Scales::line ? place(matrix, j, columns_) : static_cast<std::size_t>(matrix);
  }

  const Kernel& kernel_;
  const Shape& shape_;
  int columns_;
  std::vector<float> a_, b_;
};

struct Product {
  std::vector<unsigned short> c;  // its elements between rows have to stay as they were
  std::vector<int> columns_of_a;  // where boxes of A began, in the order in which they were asked for
};

Product product(const Kernel& kernel, const Shape& shape, const Launch& launch, unsigned seed) {
  std::vector<unsigned char> a = operand(kernel, small_numbers(shape.m * shape.k, 1)),
                             b = operand(kernel,
                                         small_numbers(shape.matrices_of_b() * columns_of(kernel, shape) * shape.k, 2));
  const int element = kernel.scaled() ? 1 : 2;
  const std::vector<float> scale_a = scales_of_a(kernel, shape), scale_b = scales_of_b(kernel, shape);
  std::vector<unsigned short> c(static_cast<std::size_t>(shape.m * shape.ldc), 0x7fc1);
  const int tiles = ceil_div(kernel.swap ? shape.n : shape.m, kernel.bm * launch.cluster_m) *
                    ceil_div(kernel.swap ? shape.m : columns_of(kernel, shape), kernel.bn * launch.cluster_n) *
                    launch.cluster_m * launch.cluster_n;
  std::vector<float> workspace(static_cast<std::size_t>(tiles * launch.parts * kernel.bm * kernel.bn), NAN);
  Kernel::Arguments arguments;
  const int rows_of_a = kernel.swap ? kernel.bn / launch.cluster_m : kernel.bm / launch.cluster_n;
  arguments.a = {a.data(), shape.m, shape.k, shape.k, element, std::min(rows_of_a, kernel.box_of_a)};
  arguments.b = {
      b.data(),
      columns_of(kernel, shape),
      shape.k,
      shape.k,
      element,
      kernel.swap ? kernel.bm / launch.cluster_n : kernel.swiglu ? kernel.bn / 2 : kernel.bn / launch.cluster_m};
  arguments.c_map = {reinterpret_cast<unsigned char*>(c.data()), shape.m, shape.n, shape.ldc, 2,
                     kernel.swap ? std::min(64, kernel.bn) : 64};
  const std::vector<unsigned short> bias = in_bf16(small_numbers(std::max(shape.m, columns_of(kernel, shape)), 3));
  const std::vector<unsigned short> residual = in_bf16(small_numbers(shape.m * shape.ldc, 4));
  arguments.scale_a = scale_a.data();
  arguments.scale_b = scale_b.data();
  arguments.bias = bias.data();
  arguments.residual = residual.data();
  arguments.c = c.data();
  arguments.workspace = workspace.data();
  const std::vector<int> offsets = shape.offsets();
  arguments.groups_list = kernel.masked ? shape.counts.data() : offsets.data();
  arguments.groups = static_cast<int>(shape.counts.size());
  arguments.max_rows = shape.max_rows;
  arguments.m = shape.m;
  arguments.n = shape.n;
  arguments.k = shape.k;
  arguments.ldc = shape.ldc;
  arguments.group = launch.group;
  arguments.parts = launch.parts;
  arguments.stagger = launch.stagger;
  arguments.cluster_m = launch.cluster_m;
  arguments.cluster_n = launch.cluster_n;
  const int blocks = kernel.split ? tiles * launch.parts : launch.blocks;
  const int scale_bytes =
      kernel.scale_a == Kernel::Scales::blocks ? ((kernel.swap ? kernel.bn : kernel.bm) + 20) * 4 : 0;
  const int stage = (kernel.bm + kernel.bn) * kernel.bk * element + 16 + scale_bytes;
  const int shared = kernel.stages * stage + kernel.consumers * kernel.store_bytes;
  hopper::Machine machine(static_cast<unsigned>(blocks), static_cast<unsigned>(launch.cluster_m * launch.cluster_n),
                          static_cast<unsigned>(kernel.consumers + 1) * 128, static_cast<std::size_t>(shared), seed);
  machine.run([&] { kernel.call(arguments); });
  return {c, machine.columns_asked_for(arguments.a.data)};
}

std::vector<unsigned short> expected(const Kernel& kernel, const Shape& shape) {
  const int columns = columns_of(kernel, shape);
  const std::vector<float> bias = small_numbers(std::max(shape.m, columns), 3);
  const std::vector<float> residual = small_numbers(shape.m * shape.ldc, 4);
  const std::vector<float> a = small_numbers(shape.m * shape.k, 1),
                           b = small_numbers(shape.matrices_of_b() * columns * shape.k, 2);
  const Scaling scaling(kernel, shape);
  std::vector<unsigned short> c(static_cast<std::size_t>(shape.m * shape.ldc), 0x7fc1);
  const auto product = [&](int i, int j) {
    float sum = kernel.finishes ? bias[static_cast<std::size_t>(kernel.by_col ? i : j)] : 0;
    const int matrix = shape.matrix_of(i);
    for (int k = 0; k < shape.k; ++k)
      sum += a[place(i, k, shape.k)] * b[place(matrix * columns + j, k, shape.k)] * scaling(i, matrix, j, k);
    return sum;
  };
  for (int i = 0; i < shape.m; ++i)
    for (int j = 0; j < shape.n && shape.is_of_a_group(i); ++j) {
      float x = product(i, j);
      if (kernel.swiglu)
        x = x / (1 + std::exp(-x)) * product(i, shape.n + j);
      else if (kernel.finishes)
        x = std::max(x, 0.0F);
      if (kernel.finishes) x += residual[place(i, j, shape.ldc)];
      c[place(i, j, shape.ldc)] = to_bf16(x);
    }
  return c;
}

/// Equal, or of swiglu, whose results are not exact, within two units of the last place.
bool is_right(const Kernel& kernel, const std::vector<unsigned short>& c, const std::vector<unsigned short>& right) {
  return std::ranges::equal(c, right, [&](unsigned short x, unsigned short y) {
    return x == y || (kernel.swiglu && std::fabs(to_float(x) - to_float(y)) <= 0.016F * std::fabs(to_float(y)) + 1e-6F);
  });
}

/// Of several tiles for each block, and with a C whose rows the TMA cannot store. Of groups, some have no rows, one
/// row, or less or more than a tile.
std::vector<Shape> shapes_for(const Kernel& kernel) {
  const int rows = kernel.swap ? kernel.bn : kernel.bm, cols = kernel.swap ? kernel.bm : kernel.bn;
  if (!kernel.grouped)
    return {{rows, cols, 256, cols},
            {rows + 5, 2 * cols - 3, 136, 2 * cols},
            {3, cols + 9, 392, cols + 11},
            {3, cols, 112, cols}};
  std::vector<Shape> shapes;
  for (const std::vector<int>& counts :
       {std::vector{rows, rows}, {0, rows - 3, 1, 0, rows + 5, rows / 2 - 1, 8, 0}, {2, 0, 3}, {0, 0, 2 * rows}}) {
    const int room = kernel.masked ? *std::ranges::max_element(counts) + 3 : 0;
    Shape& shape =
        shapes.emplace_back(Shape{room * static_cast<int>(counts.size()), cols + 8, 136, cols + 8, counts, room});
    if (!kernel.masked) shape.m = shape.offsets().back();
  }
  return shapes;
}

class HopperKernels : public testing::TestWithParam<std::size_t> {};

TEST_P(HopperKernels, ComputeTheProduct) {
  const Kernel& kernel = hopper::kernels()[GetParam()];
  unsigned seed = 1;
  for (const Shape& shape : shapes_for(kernel))
    for (const auto& [cluster_m, cluster_n] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
      if (kernel.bn % (8 * cluster_m) != 0) continue;
      if (kernel.grouped && (kernel.swap ? cluster_n : cluster_m) > 1) continue;   // they share A alone
      const int clusters = 1 + static_cast<int>(seed % (kernel.grouped ? 5 : 2));  // of groups, some have no tile
      Launch launch{cluster_m, cluster_n, 1, clusters * cluster_m * cluster_n};
      launch.stagger = 2;
      if (kernel.split) launch.parts = std::min(3, ceil_div(shape.k, kernel.bk));
      try {
        EXPECT_TRUE(is_right(kernel, product(kernel, shape, launch, seed++).c, expected(kernel, shape)))
            << kernel.name << " " << shape.m << "x" << shape.n << "x" << shape.k << " " << cluster_m << "x"
            << cluster_n;
      } catch (const hopper::Fault& fault) {
        ADD_FAILURE() << kernel.name << " " << shape.m << "x" << shape.n << "x" << shape.k << " clusters of "
                      << cluster_m << "x" << cluster_n << ": " << fault.what();
      }
    }
}

// What it loaded last is still in the L2 cache.
TEST(HopperKernel, GoesBackThroughKForEverySecondTile) {
  const Kernel& kernel = hopper::kernels().front();
  ASSERT_EQ(kernel.bk, 64);
  Launch launch;
  launch.blocks = 1;
  EXPECT_EQ(product(kernel, {kernel.bm, 3 * kernel.bn, 192, 3 * kernel.bn}, launch, 1).columns_of_a,
            (std::vector{0, 64, 128, 128, 64, 0, 0, 64, 128}));
}

// From 16 slices on, another loop multiplies them.
TEST(HopperKernel, AddsManySlicesTimesTheirScales) {
  const auto kernel = std::ranges::find(hopper::kernels(), "scaled_in_turn_tma", &Kernel::name);
  ASSERT_NE(kernel, hopper::kernels().end());
  Launch launch;
  launch.blocks = 1;
  const Shape shape = {kernel->bm - 3, kernel->bn, 19 * 128 - 16, kernel->bn};
  EXPECT_TRUE(is_right(*kernel, product(*kernel, shape, launch, 1).c, expected(*kernel, shape)));
}

std::string fault_of(unsigned blocks, const hopper::Act& kernel) {
  hopper::Machine machine(blocks, blocks, 32, 1024, 1);
  try {
    machine.run(kernel);
  } catch (const hopper::Fault& fault) {
    return fault.what();
  }
  return "";
}

TEST(HopperEmulator, SaysWhatThreadsWaitForForEver) {
  EXPECT_EQ(fault_of(1, [] { hopper::Machine::now().wait_until("what never comes", [] { return false; }); }),
            "all wait for ever: 32 threads for what never comes;");
}

TEST(HopperEmulator, FindsTheUseOfABlockThatHasLeft) {
  EXPECT_EQ(fault_of(2,
                     [] {
                       hopper::Machine& machine = hopper::Machine::now();
                       if (machine.block().rank == 0) return;
                       const unsigned& left = machine.block().cluster->blocks.front()->threads;
                       machine.wait_until("the other block", [&left] { return left == 0; });
                       machine.at(0, 1);
                     }),
            "shared memory of a block that has left is used");
}

INSTANTIATE_TEST_SUITE_P(All, HopperKernels, testing::Range<std::size_t>(0, hopper::kernels().size()),
                         [](const auto& kernel) { return hopper::kernels()[kernel.param].name; });

}  // namespace
}  // namespace tune::hopper_emulator_test

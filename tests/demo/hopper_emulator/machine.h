#pragma once
// A multiprocessor of Hopper, as far as the kernels of demo/hopper use it: every thread of every block runs on a stack
// of its own, one at a time, until it waits. Copies of the TMA take place later, in random order.
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tune::hopper {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

/// A matrix in memory, and the boxes in which the TMA copies it: rows of 128 bytes that are swizzled.
struct Map {
  unsigned char* data = nullptr;
  int rows = 0, cols = 0, ld = 0, element = 2;  // elements; bytes of one
  int box_rows = 0;
};

/// An mbarrier: a phase ends once all have arrived and all announced bytes have.
struct Barrier {
  int expected = 0, missing = 0, bytes = 0;
  unsigned phase = 0;
};

/// A named barrier, a warp's, or that of a cluster.
struct Meeting {
  unsigned arrived = 0, turn = 0;
};

struct Warp {
  Meeting meeting;
  std::array<std::uint32_t, 32> words{};
};

struct Cluster;

struct Block {
  Cluster* cluster = nullptr;
  unsigned rank = 0;
  Dim index, size;
  std::vector<unsigned char> shared;
  std::map<unsigned, Barrier> barriers;  ///< by their address in it
  std::map<int, Meeting> named;
  std::vector<Warp> warps;
  unsigned threads = 0;  ///< that have not returned
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  Meeting meeting;
};

using Act = std::function<void()>;

struct Thread {
  Block* block = nullptr;
  Dim index;
  ucontext_t context{};
  bool done = false;
  const char* waits_for = "";
  const std::function<bool()>* condition = nullptr;  ///< that it waits for
  unsigned clusters_met = 0;                         ///< how often it has waited for its cluster
  std::vector<Act> started;                          ///< products, and then groups of them that were committed
  std::deque<std::vector<Act>> products;
  std::vector<Act> asked;  ///< stores, and then groups of them that have not read shared memory yet
  std::deque<std::vector<Act>> stores;
};

/// The kernel did what is undefined, or waits for ever.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Launches a kernel on `blocks` blocks, in clusters of so many, all of which run at the same time.
class Machine {
 public:
  /// `threads` and `shared_bytes` are those of a block. `seed`: for the order of copies.
  Machine(unsigned blocks, unsigned in_cluster, unsigned threads, std::size_t shared_bytes, unsigned seed);
  /// Every thread calls the kernel. Throws Fault.
  void run(const Act& kernel);

  static Machine& now() { return *running_; }
  Thread& thread() { return *thread_; }
  Block& block() { return *thread_->block; }
  /// What happens later is done in the name of the thread that asked for it.
  void act_as(Thread& thread) { thread_ = &thread; }

  void let_others_run(const char* what);
  /// Lets others run until the condition holds.
  void wait_until(const char* what, const std::function<bool()>& condition);
  void note_progress() { ++progress_; }
  void note_box(const unsigned char* matrix, int x) { boxes_.push_back({matrix, x}); }
  /// The first columns of the boxes of this matrix, in the order in which they were asked for.
  std::vector<int> columns_asked_for(const unsigned char* matrix) const;
  /// Something that does not wait is done at some time, in any order.
  void later(Act act) { later_.push_back(std::move(act)); }

  /// Shared memory of a block of the thread's cluster, which must not have left.
  unsigned char* at(unsigned address, std::size_t bytes);
  Barrier& barrier(unsigned address);
  Block& block_of(unsigned address);
  void arrive(unsigned address);
  void complete(unsigned address, int bytes);
  void meet(Meeting& meeting, unsigned count, const char* what);
  static void arrive(Meeting& meeting, unsigned count);

 private:
  static void enter();
  void switch_away();
  void do_one_of_later();
  [[noreturn]] void throw_stuck() const;

  static inline Machine* running_ = nullptr;
  std::vector<Cluster> clusters_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* thread_ = nullptr;
  const Act* kernel_ = nullptr;
  ucontext_t scheduler_{};
  std::vector<Act> later_;
  std::vector<std::pair<const unsigned char*, int>> boxes_;
  std::uint64_t progress_ = 0;
  std::string fault_;
  std::mt19937 random_;
};

/// Copies of the TMA. Loading happens later, and reports its bytes to a barrier; `blocks` has a bit for each block of
/// the cluster that gets the box.
void load_box(const Map& map, int x, int y, unsigned to, unsigned barrier, unsigned blocks);
void store_box(const Map& map, int x, int y, unsigned from);
void load_bytes(const void* from, int bytes, unsigned to, unsigned barrier);

/// Where a byte of swizzled rows lies.
inline unsigned swizzled_address(unsigned address) { return address ^ ((address >> 7 & 7) << 4); }

/// A kernel that was compiled with certain parameters.
struct Kernel {
  std::string name;
  int bm, bn, bk, stages, consumers;
  bool swap;
  int store_bytes;                ///< of shared memory that each consumer stores C through; 0: none
  bool split;                     ///< blocks share tiles
  bool finishes, by_col, swiglu;  ///< finishes: adds a bias (by_col: of each row), is relu or swiglu, adds a residual
  enum class Scales { none, tensor, line, blocks } scale_a, scale_b;  ///< with any it multiplies e4m3, and not bf16
  bool grouped;                                                       ///< multiplies groups of rows by a matrix each
  bool masked;                                                        ///< these have room for max_rows each
  int box_of_a;  ///< the most rows of A that a block asks for at a time
  struct Arguments {
    Map a, b, c_map;
    unsigned short* c;
    const unsigned short *bias, *residual;
    const float *scale_a, *scale_b;
    float* workspace;
    int m, n, k, ldc, group, parts, stagger, cluster_m, cluster_n;
    const int* groups_list;  ///< their offsets, or if they are masked their rows
    int groups, max_rows;
  };
  void (*call)(const Arguments&);

  bool scaled() const { return scale_a != Scales::none; }
};

std::vector<Kernel>& kernels();

}  // namespace tune::hopper

#pragma once
#include <optional>
#include <string_view>

/// How long a tiled matrix product takes, from what a device can do and what the kernel asks of it. No measurement is
/// needed: the constants are those of the hardware, or rough guesses that are the same for all kernels. Only the order
/// of the specs matters to a search; docs/cost-model.md says how good it is.
namespace tune::cost {

/// What a device can do. A unit is a multiprocessor, or a core.
struct Hardware {
  double units = 0;
  double clock_hz = 0;
  double math = 0;    ///< operations per cycle and unit; a multiplication and an addition are two
  double shared = 0;  ///< bytes per cycle and unit, of shared memory or of a core's nearest cache
  double intake = 0;  ///< bytes per cycle that a unit takes in from the L2 cache
  double l2 = 0;      ///< bytes per cycle that this cache gives, for each unit
  double alike = 1;   ///< units that ask it only once for what several of them need
  double l2_bytes = 0;
  double memory = 0;           ///< bytes per second
  double launch_seconds = 0;   ///< of an empty kernel
  double round_trip = 0;       ///< seconds until memory under load answers
  bool keeps_pipeline = true;  ///< false: of a CPU, whose cores fetch ahead by themselves
};

/// One product: C[m,n] from A[m,k] and B[k,n], `batch` times.
struct Product {
  double m = 0, n = 0, k = 0, batch = 1;
  double matrices_of_b = 1;                  ///< of one product, more than one where rows have groups
  double input_bytes = 0, output_bytes = 0;  ///< of an element of A or B; stored of each sum
};

/// What a kernel does with it. Lengths are in elements.
struct Kernel {
  double tile_m = 0, tile_n = 0, tile_k = 0;
  double tiles = 0;                 ///< of C, with those that hang over its edge
  double down = 1, across = 1;      ///< how many of them read different rows of A, columns of B
  double outside = 0;               ///< rows and columns outside of C that zeros are loaded for, in all tiles
  double split = 1;                 ///< parts of k that are summed up in the end
  double stages = 1;                ///< slices of A and B that are held at a time
  double share_a = 1, share_b = 1;  ///< so many blocks use one load of a slice of A, of B
  double cluster = 1;               ///< blocks that must run at the same time
  double inner_m = 0, inner_n = 0;  ///< tile of the unit that reads operands from shared memory
  double group = 0;                 ///< rows of tiles that are walked together; 0: not known
  double occupancy = 1;             ///< blocks that one unit can hold
  double launches = 1;
  double store = 1;   ///< how much longer storing a tile takes than it should
  double factor = 1;  ///< how much longer all of it takes
};

/// What keeps a spec from being faster: the longest part of its time.
enum class Limit { math, shared, l2, memory, latency, store };
std::string_view to_text(Limit limit);

struct Prediction {
  double seconds = 0;
  std::optional<Limit> limit = {};  ///< unset: of a formula of the tuning file's own
};

Prediction predict(const Hardware& hardware, const Product& product, const Kernel& kernel);
/// A kernel that reads its inputs and writes its outputs once, and does little else.
Prediction predict_stream(const Hardware& hardware, double bytes, double factor);

}  // namespace tune::cost

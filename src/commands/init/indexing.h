#pragma once
#include <array>
#include <optional>
#include <set>
#include <string>

#include "commands/init/source.h"

namespace tune::commands {

/// What the body of a kernel tells of its launch and of its buffers. Expressions are those of tuning files.
class Indexing {
 public:
  Indexing(const KernelSource& source, const Kernel& kernel);

  struct Dimension {
    std::string size;          ///< the argument that bounds it; empty: not known
    std::string elements;      ///< that a block computes along it; empty: one
    std::string threads;       ///< of a block; empty: as many as the launch likes (`blockDim`), or not known
    bool asks_launch = false;  ///< blockDim is used, so the number of threads may be a run-time value
    bool has_threads = false, has_blocks = false;
  };
  /// x, y and z.
  const std::array<Dimension, 3>& dimensions() const { return dimensions_; }

  /// What the tokens say in a tuning file; nothing if they need more than parameters, sizes and numbers.
  std::optional<std::string> expression(const Tokens& tokens, int depth = 0) const;
  /// The whole-number arguments on which the place of a buffer's elements depends; empty: not known.
  std::set<std::string> sizes_of(const std::string& buffer) const;
  /// Whether elements of the buffer are read before the kernel wrote them.
  bool is_read(const std::string& buffer) const;
  /// The argument by which the first index of a matrix is multiplied; empty: not known.
  std::string stride_of(const std::string& buffer) const;

 private:
  std::optional<std::string> choice(const Tokens& tokens, std::size_t question, int depth) const;
  const Tokens* constant_named(const std::string& name) const;
  bool is_size(const std::string& name) const { return integers_.contains(name); }
  bool is_builtin(std::size_t i, const char* name, int dimension) const;
  void name_aliases();
  void drop_casts();
  void read_dimension(int dimension);
  std::string step_of_threads(int dimension, const std::string& elements) const;
  /// The buffer, and pointers whose first value is a place in it.
  std::set<std::string> pointers_into(const std::string& buffer) const;
  std::string compared_size(std::size_t i) const;
  std::string bound_of(const std::string& value) const;
  bool depends_on(const std::set<std::string>& names, std::size_t i) const;
  void add_sizes(std::size_t from, std::size_t to, std::set<std::string>& sizes) const;

  const KernelSource* source_;
  const Kernel* kernel_;
  Tokens body_;
  std::set<std::string> integers_;
  std::set<std::string> macros_;
  std::array<Dimension, 3> dimensions_;
};

}  // namespace tune::commands

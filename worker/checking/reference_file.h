#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "model/problem.h"

namespace tune::worker {

/// Names the problem and the seed that a reference belongs to.
std::string reference_identity(const Problem& problem, std::uint64_t seed);

/// Throws SpecFailure: this value of a GEMM's reference is not finite, and the tolerance follows from the largest; if
/// that is infinite, any result would be right.
[[noreturn]] void refuse_infinite(double value, std::int64_t index);

/// Writes a reference as a whole or not at all, readable by its owner only: a header with a magic number, version,
/// identity and checksum, then the values. Throws SpecFailure, also if a value is not finite.
void write_reference(const std::filesystem::path& path, const Problem& problem, const std::string& identity,
                     std::span<const double> values);

/// A reference mapped read-only. Owns the mapping.
class ReferenceFile {
 public:
  /// Throws SpecFailure if the file cannot be read, is damaged, or belongs to another problem.
  ReferenceFile(const std::filesystem::path& path, const std::string& identity);
  ~ReferenceFile();
  ReferenceFile(const ReferenceFile&) = delete;
  ReferenceFile& operator=(const ReferenceFile&) = delete;

  std::span<const double> values() const;

 private:
  ReferenceFile() = default;

  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace tune::worker

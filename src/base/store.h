#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tune {

/// 128-bit hash in 32 hex digits (XXH3). The parts are hashed with their lengths, so that ("ab","c") != ("a","bc").
class Hash {
 public:
  Hash();
  ~Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  Hash& add(std::string_view part);
  std::string hex() const;

 private:
  void* state_;
};

/// Hash of a file's bytes. Throws Error(environment) if it cannot be read.
std::string hash_file(const std::filesystem::path& path);

/// Build artifacts by key: one folder per key, made under a temporary name and renamed, never changed afterwards.
class Store {
 public:
  /// Creates the folder. Throws Error(environment) if it cannot be written.
  explicit Store(std::filesystem::path folder);

  /// The entry's folder, if this key was built.
  std::optional<std::filesystem::path> find(std::string_view key) const;
  /// An empty temporary folder in the store, to build into.
  std::filesystem::path begin(std::string_view key) const;
  /// Makes what was built under `begin` the entry of `key` and returns its folder; if another process was first, its
  /// entry stands.
  std::filesystem::path commit(const std::filesystem::path& begun, std::string_view key) const;
  /// Removes a temporary folder of a build that failed.
  void discard(const std::filesystem::path& begun) const;

 private:
  std::filesystem::path folder_;
};

/// Writes a file as a whole or not at all: temporary name in the same folder, flush to disk, rename.
/// Throws Error(environment) with the path and the system's reason.
void write_file(const std::filesystem::path& path, std::string_view text);
/// Throws Error(bad_input) with the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace tune
